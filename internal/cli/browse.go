package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/shoal-dev/shoal"
)

// HasDisplay reports whether a browser can be opened for the reader of the output.
func (o *Output) HasDisplay() bool { return o.Terminal && !o.JSON && OpensBrowsers() }

// OpensBrowsers reports whether a browser can be opened here for the person who has started the command.
func OpensBrowsers() bool {
	if os.Getenv("BROWSER") != "" {
		return true
	}
	if os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// Browse opens an address in a browser and does not wait until that ends.
func Browse(ctx context.Context, address string) error {
	program := browser()
	command := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], address)...)
	if err := command.Start(); err != nil {
		return &shoal.Error{
			Kind: shoal.NotFound, Err: err,
			Msg: fmt.Sprintf("no browser could be started with %s: name one in the variable BROWSER, or open the link yourself", program[0]),
		}
	}
	return command.Process.Release()
}

// browser is the command that opens an address.
func browser() []string {
	if chosen := strings.Fields(os.Getenv("BROWSER")); len(chosen) > 0 {
		return chosen
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
