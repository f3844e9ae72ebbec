# Completion of shoal for fish. Store it once:
#   shoal completion fish > ~/.config/fish/completions/shoal.fish

function __shoal_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    for line in (command $words[1] __complete $words[2..-1] "$token" 2>/dev/null)
        if test "$line" = :files
            set -l kept (string match -r -- '^--[^=]*=' "$token")
            for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$token"))
                echo "$kept$path"
            end
        else
            echo $line
        end
    end
end

complete -c shoal -f -k -a '(__shoal_complete)'
