package exchange

import "github.com/shoal-dev/shoal"

// View shows the messages of the runs in the form of a protocol. Parts that are for another
// member are left out, except in Message, which is the stored message. Methods are called
// by the goroutine of the exchange.
type View interface {
	// Message shows a message of a run as it is now.
	Message(m shoal.Message, run shoal.RunID)
	// Delta shows a piece of a text, of a call's arguments, or of reasoning, and the edges of
	// reasoning.
	Delta(what shoal.EventType, d shoal.DeltaData, run shoal.RunID)
	// EndText shows a whole text.
	EndText(d shoal.TextData)
	// BeginCall shows that the arguments of a call begin.
	BeginCall(d shoal.ToolInputData, run shoal.RunID)
	// EndInput shows the whole arguments of a call.
	EndInput(d shoal.ToolInputData, run shoal.RunID)
	// Output shows the result of a call.
	Output(d shoal.ToolOutputData, run shoal.RunID)
	// Reset shows that a part has only the bytes up to d.Offset, or that it is removed.
	Reset(d shoal.PartResetData, removed bool)
	// Settled shows that somebody has answered what waited in the space, or that nobody did in time. It
	// is called for all of the space, also for those of other runs.
	Settled(p shoal.PendingAction)
}

// takeAll shows events. moved says that the state may have changed.
func (x *Exchange) takeAll(v View, events []shoal.Event) (moved bool, err error) {
	for _, e := range events {
		if e.Cursor != "" {
			x.cursor = e.Cursor
		}
		moves, err := x.take(v, e)
		if err != nil {
			return moved, err
		}
		moved = moved || moves
	}
	return moved, nil
}

// catchUp shows the messages of the runs as a snapshot has them.
func (x *Exchange) catchUp(v View, s shoal.SnapshotData) {
	x.cursor = s.Cursor
	for _, m := range s.Messages {
		if run, ok := x.own(m); ok {
			v.Message(m, run)
		}
	}
}

// own reports whether the message is of a run that is shown.
func (x *Exchange) own(m shoal.Message) (shoal.RunID, bool) {
	if m.RunID == nil || x.Runs[*m.RunID] == nil {
		return "", false
	}
	x.messages[m.ID] = *m.RunID
	return *m.RunID, true
}

// take shows one event of the space.
func (x *Exchange) take(v View, e shoal.Event) (moves bool, err error) {
	switch e.Type {
	case shoal.EventSnapshot:
		var s shoal.SnapshotData
		if s, err = decode[shoal.SnapshotData](e); err == nil {
			x.catchUp(v, s)
			x.stale = true
		}
		return true, err
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunResumed, shoal.EventRunStalled, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		d, err := decode[shoal.RunData](e)
		return err == nil && x.receive(d.Run), err
	case shoal.EventPendingOpened, shoal.EventPendingSettled:
		d, err := decode[shoal.PendingData](e)
		if err == nil && e.Type == shoal.EventPendingSettled {
			v.Settled(d.PendingAction)
		}
		return err == nil && x.Runs[d.PendingAction.RunID] != nil, err
	case shoal.EventMessageCreated, shoal.EventMessageUpdated, shoal.EventMessageCompleted:
		d, err := decode[shoal.MessageData](e)
		if err != nil {
			return false, err
		}
		if run, ok := x.own(d.Message); ok {
			v.Message(d.Message, run)
			moves = e.Type == shoal.EventMessageCompleted && x.doubtForeign()
		}
		return moves, nil
	}
	return false, x.takePart(v, e)
}

// takePart shows an event of a part.
func (x *Exchange) takePart(v View, e shoal.Event) error {
	switch e.Type {
	case shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningStart, shoal.EventReasoningDelta, shoal.EventReasoningEnd:
		d, err := decode[shoal.DeltaData](e)
		if run, ok := x.run(d.PartHead); ok {
			v.Delta(e.Type, d, run)
		}
		return err
	case shoal.EventTextEnd:
		d, err := decode[shoal.TextData](e)
		if _, ok := x.run(d.PartHead); ok {
			v.EndText(d)
		}
		return err
	case shoal.EventToolInputStart, shoal.EventToolInputAvailable:
		d, err := decode[shoal.ToolInputData](e)
		if run, ok := x.run(d.PartHead); ok && e.Type == shoal.EventToolInputStart {
			v.BeginCall(d, run)
		} else if ok {
			v.EndInput(d, run)
		}
		return err
	case shoal.EventToolOutputAvailable, shoal.EventToolOutputError:
		d, err := decode[shoal.ToolOutputData](e)
		if run, ok := x.run(d.PartHead); ok {
			v.Output(d, run)
		}
		return err
	case shoal.EventPartReset, shoal.EventPartRemoved:
		d, err := decode[shoal.PartResetData](e)
		if _, ok := x.run(d.PartHead); ok {
			v.Reset(d, e.Type == shoal.EventPartRemoved)
		}
		return err
	}
	return nil
}

// run returns the run of a part, if it is shown and the part is for the caller.
func (x *Exchange) run(h shoal.PartHead) (shoal.RunID, bool) {
	if h.Private || h.PartID == "" {
		return "", false
	}
	if run, ok := x.messages[h.MessageID]; ok {
		return run, true
	}
	if h.RunID == nil || x.Runs[*h.RunID] == nil {
		return "", false
	}
	return *h.RunID, true
}
