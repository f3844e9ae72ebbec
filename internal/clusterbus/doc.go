// Package clusterbus is the [core.Bus] of a server that shares its database with others.
//
//	bus := clusterbus.New(clusterbus.Options{Transport: natscore.New(url), Key: key, Node: node})
//	h := hub.New(hub.Options{Store: store, Bus: bus})
//	err := bus.Start(ctx, h.Cluster)
//	defer bus.Stop()
//
// What is published reaches the subscribers of this server at once, as with
// [localbus.Bus], and those of the other servers in frames that a [Transport] carries. A
// transport may lose, repeat and delay frames, and so may this bus. What it promises is that
// no loss lasts:
//
//   - Frames have sequence numbers, and each server sends at least one a second. A server
//     that misses a frame notices it with the next one and notifies all of its subscribers,
//     which then read the database.
//   - A server that does not hear itself, or another one that the database says is alive,
//     for three seconds treats the bus as down: it notifies all of its subscribers every two
//     seconds until the bus is up again, and once more then.
//   - So a notification that is lost is made up for within about four seconds.
//   - The events of one server arrive in the order of publishing, and after the
//     notifications that were published before them.
//   - A frame carries a code that proves that its sender knows the key of this cluster,
//     which is in the database. Other frames are ignored.
//
// A server without others sends one small frame a second and nothing else.
package clusterbus
