#!/usr/bin/env bash
# install.sh PREFIX: installs the release `sora`, its manual pages, and what shells need to complete its commands, options and files.
# SORA=FILE installs that command, and builds none.
set -euo pipefail
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
tools=$(cd "$(dirname "$0")" && pwd)

sora=${SORA:-}
if [[ -z $sora ]]; then
  cd "$tools/.."
  swift=${SWIFT:-swift}
  configuration=${CONFIGURATION:-release}
  "$swift" build -c "$configuration" --product sora
  sora=$("$swift" build -c "$configuration" --show-bin-path)/sora
fi

install -D -m 755 "$sora" "$prefix/bin/sora"
# The script of a shell, in the file where that shell looks for it.
completion() {
  install -d "$(dirname "$2")"
  "$prefix/bin/sora" --generate-completion-script "$1" > "$2"
}
completion bash "$prefix/share/bash-completion/completions/sora"
completion zsh "$prefix/share/zsh/site-functions/_sora"
completion fish "$prefix/share/fish/vendor_completions.d/sora.fish"
"$prefix/bin/sora" --experimental-dump-help | "$tools/man.py" "$prefix/share/man/man1" "$("$prefix/bin/sora" --version)"
echo "installed $prefix/bin/sora, its manual pages (man sora), and completion for bash, zsh and fish"
