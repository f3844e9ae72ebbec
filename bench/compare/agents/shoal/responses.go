//go:build responses

package main

import "github.com/shoal-dev/shoal/agent/provider/openai"

func init() { newModel = openai.Responses }
