// What is answered to methods that a path does not have.
import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { Refusal } from "../core/errors.ts";

/** 405 comes before the body is read and before anybody asks who is calling. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
): void {
  app.route({
    // CONNECT never reaches a route: Node hands it to a listener of its own, which there is not.
    method: METHODS.filter((method) => !methods.includes(method) && method !== "CONNECT"),
    url,
    onRequest: (_request, reply) => {
      reply.header("allow", methods.join(", "));
      const verb = methods.length === 1 ? "is" : "are";
      throw new Refusal("methodNotAllowed", `only ${methods.join(" and ")} ${verb} answered here`);
    },
    handler: async () => undefined,
  });
}
