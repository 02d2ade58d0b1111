// What the operating system says about a file, in words for the person who named it.
import { errorCode, messageOf } from "../../core/thrown.ts";

/** `there is no such file`, from an error of Node; its own message where it says best itself. */
export function fileFailureReason(error: unknown): string {
  switch (errorCode(error)) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a folder";
    case "ENOTDIR":
      return "a part of its path is not a folder";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    default:
      return messageOf(error);
  }
}
