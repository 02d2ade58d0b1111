// Which expressions of jq keep all digits of a number. jq keeps a number as it is written while it is passed on, compared
// and printed, and rounds it to 53 bits to compute with it.

/** What only passes on, selects, compares, orders or prints. */
const passing = new Set(
  (
    "and or not if then elif else end as try catch reduce null true false empty error select map map_values recurse " +
    "keys keys_unsorted has in any all to_entries from_entries with_entries paths leaf_paths path getpath del " +
    "delpaths sort sort_by group_by unique unique_by min max min_by max_by reverse first last limit until nth " +
    "flatten contains inside type values nulls booleans numbers strings arrays objects iterables scalars isempty " +
    "tostring tojson join split test startswith endswith ltrimstr rtrimstr ascii_downcase ascii_upcase"
  ).split(" "),
);

/** White space, a text without an expression in it, a path, a variable, the name of a member, a format, a number. */
const token =
  /\s+|"(?:[^"\\]|\\[^(])*"|\.\.|\.\$?[A-Za-z_]\w*|\$\w+|(?<word>[A-Za-z_]\w*)(?<colon>\s*:(?!:))?|@\w+|-?[0-9]+(?:\.[0-9]+)?|\/\/(?!=)|[=!<>]=|[<>.,|;:?()[\]{}]/y;

/** Whether an expression certainly computes with no number. Of what is not known here, nothing is certain. */
export function keepsNumbers(expression: string): boolean {
  token.lastIndex = 0;
  let before = "";
  for (let at = 0; at < expression.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(expression);
    if (match === null) return false;
    const [text] = match;
    const { word, colon } = match.groups ?? {};
    if (word !== undefined && colon === undefined && !passing.has(word)) return false;
    // A minus is part of a number where a number begins, and else computes.
    if (text.startsWith("-") && !/[[(:,|;<>=]$/.test(before) && before !== "") return false;
    if (text.trim() !== "") before = text;
  }
  return true;
}
