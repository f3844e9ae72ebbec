// Package shoaltest holds what tests of several packages share: the scenario
// language in which the rules of the hub are told, and the conformance suites
// for what has two implementations. It is never linked into the product.
//
// # Scenarios
//
// A scenario is a story in plain text with its exact outcome. [Play] plays every
// file of a directory, each on a hub and a real SQLite store of its own, in a
// bubble of virtual time:
//
//	# A mention waits in the inbox until it is read.
//
//	entity ann human
//	entity bot
//	space shop by ann members=bot
//	----
//	ann human
//	bot agent
//	shop open members=ann,bot
//
//	wait w1 bot mentions timeout=30s
//	----
//	w1 waits
//
//	post ann shop "hello" mentions=bot
//	----
//	msg1 shop#1 ann "hello" mentions=bot
//	w1 returns
//	  shop#1 ann "hello" (mention, delivery 1)
//
// A block is commands, one a line, then ----, then what they say, up to the next
// blank line. Lines outside of blocks that start with # are prose. A command is
// carried out, then everything that follows from it, until nothing moves any
// more; only advance lets time pass. A wait that ends is told by whichever
// command made it end. Running the tests with -update writes the outcomes anew.
//
// # Words of a command
//
// Words are separated by spaces; "…" holds a word with spaces, as a Go string.
// NAME=VALUE is an option, and a list is A,B,C. An ACTOR says who makes the call:
//
//	ann         the entity ann, with a key of her own, in the session default
//	ann/phone   the same with another key; the name of a key command's key if there is one
//	ann@lab     the entity ann of the session lab
//	admin       an admin; admin:ann acts as ann
//	service     a service key of the session default; service@lab of another
//
// Every command takes in=SESSION, the session that it is about, where that is
// not the actor's.
//
// # Commands
//
//	session ID                        close-session ID             delete-session ID
//	rights ACTOR members|moderators   who may change the spaces of the session; role= of an entity is its role there
//	entity ID [human] [role=ROLE] [name=] [external=] [by=ACTOR] [once=KEY]    delete-entity ID
//	rename ACTOR ID NAME [external=]  entities ACTOR               call ACTOR
//	change ID [kind=] [role=] [owner=] what only admins and owners change of an entity
//	space ID by ACTOR [members=A,B] [admin=ID] [once=KEY]          spaces ACTOR
//	get ACTOR SPACE                   set ACTOR SPACE [name=] [admin=]
//	join ACTOR SPACE ENTITY           leave ACTOR SPACE ENTITY     close ACTOR SPACE SUMMARY
//	mute ACTOR SPACE [off]            members ACTOR SPACE          delete-space ACTOR SPACE
//	post ACTOR SPACE TEXT [mentions=A,B] [once=KEY] [times=N] [quiet] [elsewhere] [reach] [reply=MESSAGE]
//	                                  the last of N is told; quiet starts no agent; elsewhere is another node,
//	                                  of which this one has only the hints; reach shows how it reaches the mentioned
//	delete ACTOR MESSAGE|SPACE#SEQ
//	edit ACTOR MESSAGE|SPACE#SEQ TEXT [mentions=A,B] [read=DURATION]    read is how long ago the caller read it
//	react ACTOR MESSAGE|SPACE#SEQ EMOJI [remove]
//	history ACTOR MESSAGE|SPACE#SEQ                                     what it said before
//	read ACTOR SPACE [limit=] [before=] [after=]                   mark-read ACTOR SPACE SEQ
//	search ACTOR WORDS [space=]
//	wait NAME ACTOR mentions|messages [timeout=30s] [space=] [from=A,B] [entity=ID]
//	     [ack=NAME|CURSOR] [redeliver]   opens a wait; ack takes the cursor that the named wait returned
//	written NAME …                    the answers of these waits went out whole
//	cancel NAME                       the request of this wait ends
//	agents NAME ACTOR [ids=A,B] [count=N] [timeout=30s]            waits for agents
//	follow NAME ACTOR [SPACE] [after=NAME|@PLACE] [presence]       starts to follow, behind what the named follower had
//	events NAME                       what has come since it was asked last (entity.updated only with presence)
//	unfollow NAME                     its connection is cut
//	key NAME ROLE [ENTITY] [human] [expires=1h] [by=ACTOR]         revoke NAME [by=ACTOR]
//	check NAME                        whom the key proves
//	agent ID [name=] [description=] [on=enqueue|interrupt|reject] [settle=1s] [steps=5] [invite=ID,…] [by=ACTOR]
//	                                  hosts the agent with that configuration; hosted ACTOR lists them, and
//	                                  versions ACTOR ID [before=N] its versions
//	unhost ID [by=ACTOR]              its configuration is deleted
//	trigger ACTOR AGENT SERVICE [payload=JSON] [once=KEY]          starts a run; run1 is the first that is shown
//	runs ACTOR [agent=] [space=] [status=]                         run ACTOR RUN
//	cancel-run NAME ACTOR RUN         cancels a run, and waits for its end
//	retry ACTOR RUN [once=]           starts an ended run again
//	claim OWNER [limit=N] [ttl=15s]   OWNER executes what it may; renew OWNER [ttl=15s]; orphan OWNER; next-claim
//	start RUN, park RUN, finish RUN STATUS [code=], delegate RUN AGENT
//	                                  a write of whoever has claimed the run; generation=N of an older claim
//	say RUN SPACE TEXT [mention=A,B]  the run posts a message
//	ask RUN CALL [kind=client_tool|permission|question|reply] [space=] [target=]
//	                                  the run is to wait for that; take RUN gives it what has come
//	answer ACTOR RUN CALL             somebody has executed the client tool
//	plan ACTOR AGENT NAME [cron=] [zone=] [at=1h] [instruction=] [once=KEY]
//	set-plan ACTOR PLAN [name=] [cron=] [zone=] [at=] [status=]    plans ACTOR AGENT; delete-plan ACTOR PLAN
//	advance DURATION                  lets time pass
//	hold [counts] [acks]              from now on, who reads an inbox (or counts deliveries, or acknowledges) is
//	                                  kept from learning that it has
//	step                              those who are held now may go on, nobody behind them
//	release                           all may go on
//	unsure                            the next change is stored, but the store's answer is lost
//	restart [keep=N] [after=1h] [killed]   the hub stops and (so long) after that another one, which keeps N events of a
//	                                  space, starts on the same store; killed: nothing under way is stored any more
//
// [PlayWith] plays scenarios whose hosted agents really run; stage_hosting.go has the
// commands that are for them.
package shoaltest
