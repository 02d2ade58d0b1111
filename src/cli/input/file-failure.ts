// What the operating system says about a file, in words for the person who named it.
import { errorCode, messageOf } from "../../core/thrown.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

/** `there is no such file`, from an error of Node; its own message where it says best itself. */
export function fileFailureReason(error: unknown): string {
  return reasons[errorCode(error) ?? ""] ?? messageOf(error);
}
