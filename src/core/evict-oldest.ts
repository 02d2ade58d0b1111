// Bounds of what is kept in memory by key.

/** Makes room for one more where a map or set has `max` members: the one that was added first goes. */
export function evictOldest<Key>(kept: Map<Key, unknown> | Set<Key>, max: number): void {
  if (kept.size < max) return;
  const oldest = kept.keys().next();
  if (oldest.done !== true) kept.delete(oldest.value);
}
