#compdef shoal
# Completion of shoal for zsh. For every new shell, put into ~/.zshrc, behind compinit:
#   source <(shoal completion zsh)
# or store it as _shoal in a directory of $fpath.

_shoal() {
	local line files
	local -a found
	for line in "${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files) files=yes ;;
		*$'\t'?*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		*) found+=("${${line%%$'\t'*}//:/\\:}") ;;
		esac
	done
	if [[ -n $files ]]; then
		compset -P '--*='
		_files
		return
	fi
	_describe -V shoal found
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
	_shoal "$@"
else
	compdef _shoal shoal
fi
