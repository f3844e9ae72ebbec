package agentconfig_test

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal/internal/agentconfig"
)

func TestSchemaAcceptsWhatIsRight(t *testing.T) {
	for name, text := range good(t) {
		if err := agentconfig.FitsSchema(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := agentconfig.FitsSchema(t, decode(t, string(text)).Canonical()); err != nil {
			t.Errorf("%s in its canonical form: %v", name, err)
		}
	}
}

// An editor that knows the schema shows what the server would refuse.
func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	for _, c := range wrongConfigs {
		switch err := agentconfig.FitsSchema(t, []byte(c.text)); {
		case err == nil && !c.beyond:
			t.Errorf("the schema accepts\n%s", c.text)
		case err != nil && c.beyond:
			t.Errorf("the schema refuses this, so it is not beyond it:\n%s\n%v", c.text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range good(f) {
		f.Add(text)
	}
	for _, c := range wrongConfigs {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := agentconfig.Decode(text, options)
		if err != nil {
			if len(paths(err)) == 0 && len(text) <= agentconfig.MaxSize {
				t.Fatalf("an error without a path: %v", err)
			}
			return
		}
		if !json.Valid(config.Canonical()) {
			t.Fatalf("the canonical form is no JSON: %s", config.Canonical())
		}
		again, err := agentconfig.Load(config.Canonical())
		if err != nil || again.Hash() != config.Hash() {
			t.Fatalf("the canonical form of\n%s\nis not stable: %v\n%s\n%s", text, err, config.Canonical(), again.Canonical())
		}
		if err := agentconfig.FitsSchema(t, text); err != nil {
			t.Fatalf("the schema refuses what is right:\n%s\n%v", text, err)
		}
	})
}
