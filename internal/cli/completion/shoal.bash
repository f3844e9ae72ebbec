# Completion of shoal for bash. For every new shell, put into ~/.bashrc:
#   source <(shoal completion bash)

_shoal() {
	local words=() n i word
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		n=${#words[@]}
		# = and : begin a word for bash, but not for shoal.
		if ((n > 0)) && [[ $word == [=:]* || ${words[n - 1]} == *[=:] ]]; then
			words[n - 1]+=$word
		else
			words+=("$word")
		fi
	done

	# bash replaces only what stands behind the last of these.
	local current=${words[${#words[@]} - 1]}
	local typed=${current##*[=:]}
	local kept=${current%"$typed"}
	local line value
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r value; do
				COMPREPLY+=("$value")
			done < <(compgen -f -- "$typed")
			continue
		fi
		value=${line%%$'\t'*}
		COMPREPLY+=("${value#"$kept"}")
	done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}

complete -F _shoal shoal
