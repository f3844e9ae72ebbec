package audit

import "context"

// Origin is where a call comes from: the network address of its caller and the id of the request.
type Origin struct {
	Address   string
	RequestID string
}

// Source returns the origin of a call. Origin is called only for calls that are recorded.
type Source interface{ Origin() Origin }

type sourceKey struct{}

// From returns a context whose acts are recorded with the origin of s.
func From(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// OriginOf returns the origin of the calls of ctx, or the zero Origin without [From].
func OriginOf(ctx context.Context) Origin {
	if s, ok := ctx.Value(sourceKey{}).(Source); ok {
		return s.Origin()
	}
	return Origin{}
}
