// Numbers of things, in words.

/** `1 entry`, `2 entries`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
