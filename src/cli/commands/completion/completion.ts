// `ledgerctl completion`: prints what a shell loads. Each script hands the command line to the hidden command and
// shows what that prints: a line that says how to go on (files, nospace, space), then a candidate a line.
import { usageFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";
import { Output } from "../../terminal/output.ts";

const bash = `# Completion of ledgerctl in bash: source <(ledgerctl completion bash)
_ledgerctl() {
  local line how=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $how ]]; then how=$line; else COMPREPLY+=("$line"); fi
  done < <("$1" __complete bash -- "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  case $how in
    files) compopt -o default 2>/dev/null ;;
    nospace) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _ledgerctl ledgerctl`;

const zsh = `#compdef ledgerctl
# Completion of ledgerctl in zsh: ledgerctl completion zsh > "\${fpath[1]}/_ledgerctl"
_ledgerctl() {
  local -a lines values shown
  local line
  lines=("\${(@f)$("\${(Q)words[1]}" __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] == files ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  if [[ $lines[1] == nospace ]]; then
    compadd -l -S '' -d shown -a values
  else
    compadd -l -d shown -a values
  fi
}
if [[ $funcstack[1] == _ledgerctl ]]; then
  _ledgerctl "$@"
else
  compdef _ledgerctl ledgerctl
fi`;

const fish = `# Completion of ledgerctl in fish: ledgerctl completion fish > ~/.config/fish/completions/ledgerctl.fish
function __ledgerctl_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (ledgerctl __complete fish -- $words "$current" 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$current"
    else if test (count $lines) -gt 1
        printf '%s\\n' $lines[2..-1]
    end
end
complete -c ledgerctl -f -a '(__ledgerctl_complete)'`;

export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export function printScript(shell: string): void {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  const shells = Object.keys(scripts);
  if (script === undefined) {
    throw usageFailure(`SHELL must be one of ${shells.join(", ")}${suggestion(shell, shells)}`);
  }
  new Output({}, true).line(script);
}
