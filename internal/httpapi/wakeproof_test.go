package httpapi

import (
	"testing"

	"github.com/shoal-dev/shoal"
)

// What came of a wake test is what the receipts say, not what its sender claims.
func TestWakeProof(t *testing.T) {
	w, ann, bot := conversation(t)
	post := func(who, text, mentions string) shoal.MessageID {
		return into[shoal.Message](w.do(who, "POST", base+"/spaces/shop/messages", `{"text": "`+text+`", "mentions": [`+mentions+`]}`).wants(201)).ID
	}
	put := func(who string, asked, by shoal.MessageID) answer {
		return w.do(who, "PUT", base+"/entities/bot/wake-proof", `{"messageId": "`+string(asked)+`", "answeredBy": "`+string(by)+`"}`)
	}
	early := post(bot, "AB12", "")
	asked := post(ann, shoal.WakeTestText("AB12", "ann"), `"bot"`)
	if p := into[shoal.WakeProof](put(ann, asked, "").wants(200)); p.Answered || len(p.Steps) > 0 {
		t.Errorf("before anything has happened: %+v", p)
	}
	if got := delivered(w.wait(bot, `{"kind": "mentions", "timeoutMs": 0}`)); got == "" {
		t.Error("bot has received nothing")
	}
	wrong, chat := post(bot, "I am here.", `"ann"`), post(ann, "Are you there?", `"bot"`)
	repeated := post(bot, "AB12", `"ann"`)

	put(bot, asked, repeated).refuses(shoal.Forbidden)
	for _, of := range [][2]shoal.MessageID{{chat, repeated}, {asked, wrong}, {asked, early}, {asked, chat}} {
		put(ann, of[0], of[1]).refuses(shoal.InvalidArgument)
	}
	put(ann, "msg_none", "").refuses(shoal.NotFound)

	put(ann, asked, repeated).wants(200)
	e := into[shoal.Entity](w.do(ann, "GET", base+"/entities/bot", nil).wants(200))
	p := e.Wake.Proof
	if p == nil || !p.Answered || len(p.Steps) != 3 || p.Steps[0].Step != "delivered" || p.Steps[2] != (shoal.WakeStep{Step: "answered", Ms: p.Ms}) {
		t.Errorf("the agent has %+v", p)
	}
}
