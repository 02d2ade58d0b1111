// An organization as it is printed.
import { type Organization } from "../../../store/organizations.ts";

export function document({ organizationId, name }: Organization): { id: string; name: string } {
  return { id: organizationId, name };
}
