// The parts of undici that the client loads. All of it, with fetch, WebSocket and cache, takes a third of a command's start.
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}

declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher, Pool } from "undici";
  export default function request(
    this: Pool,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
