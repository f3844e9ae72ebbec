// Package shoaltest contains what tests of several packages share: database servers, and the
// scenario language that describes the rules of the hub. The packages below it contain the
// conformance suites for interfaces with two implementations (storetest, bustest) and the
// parts of tests that run the real program. None of it is linked into the product.
//
// # Scenarios
//
// A scenario is a text file with commands and their exact output. [Play] runs every file
// of a directory, each with a hub and a real SQLite store of its own, in simulated time:
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
// A block consists of commands, one per line, then ----, then their output, up to the next
// blank line. Lines outside of blocks that start with # are prose. After each command the
// scenario waits until everything that follows from it has finished; only advance lets
// time pass. The end of a wait is part of the output of the command that caused it.
// Running the tests with -update rewrites the outputs.
//
// # Words of a command
//
// Words are separated by spaces; a word with spaces is written as a Go string, "…".
// NAME=VALUE is an option, and a list is A,B,C. ACTOR is the caller:
//
//	ann         the entity ann, with her own key, in the session default
//	ann/phone   the same with another key; the name of a key command's key if there is one
//	ann@lab     the entity ann of the session lab
//	admin       an admin; admin:ann acts as ann
//	service     a service key of the session default; service@lab of another
//
// Every command has the option in=SESSION for a session other than the actor's.
//
// # Commands
//
//	session ID                        close-session ID             delete-session ID
//	rights ACTOR members|moderators   the entities that may change spaces of the session; role= of an entity is its role there
//	keep ACTOR messages= runs= prompts=   how long the session keeps things
//	entity ID [human] [role=ROLE] [name=] [external=] [by=ACTOR] [once=KEY]    delete-entity ID
//	rename ACTOR ID NAME [external=]  entities ACTOR               call ACTOR
//	change ID [kind=] [role=] [owner=] what only admins and owners change of an entity
//	space ID by ACTOR [members=A,B] [admin=ID] [once=KEY]          spaces ACTOR
//	get ACTOR SPACE                   set ACTOR SPACE [name=] [admin=]
//	join ACTOR SPACE ENTITY           leave ACTOR SPACE ENTITY     close ACTOR SPACE SUMMARY
//	mark-unread ACTOR SPACE SEQ
//	mute ACTOR SPACE [off]            members ACTOR SPACE          delete-space ACTOR SPACE
//	post ACTOR SPACE TEXT [mentions=A,B] [once=KEY] [times=N] [quiet] [elsewhere] [reach] [reply=MESSAGE]
//	                                  prints the last of N; quiet starts no agent; elsewhere posts on another node,
//	                                  from which this one gets only notifications; reach prints the reach
//	delete ACTOR MESSAGE|SPACE#SEQ
//	edit ACTOR MESSAGE|SPACE#SEQ TEXT [mentions=A,B] [read=DURATION]    read is how long ago the caller read it
//	react ACTOR MESSAGE|SPACE#SEQ EMOJI [remove]
//	history ACTOR MESSAGE|SPACE#SEQ                                     what it said before
//	receipts ACTOR MESSAGE|SPACE#SEQ                                    what became of its mentions
//	resumed ACTOR NAME|CURSOR [entity=ID]                               acknowledges what the named wait returned
//	read ACTOR SPACE [limit=] [before=] [after=]                   mark-read ACTOR SPACE SEQ
//	search ACTOR WORDS [space=]
//	wait NAME ACTOR mentions|messages [timeout=30s] [space=] [from=A,B] [entity=ID]
//	     [ack=NAME|CURSOR] [redeliver]   opens a wait; ack is the cursor that the named wait returned
//	     [adapter=KIND]                  of a program that wakes the model of the entity
//	lease ACTOR AGENT VIA [session=REF] [runner=ID] [ttl=60s] [busy]    holds a wake lease
//	release-lease ACTOR AGENT [session=REF]                        wake ACTOR AGENT …     how a mention reaches each
//	written NAME …                    the responses of the named waits were written completely
//	lost NAME …                       the writes of the responses of the named waits failed
//	cancel NAME                       the request of this wait is canceled
//	agents NAME ACTOR [ids=A,B] [count=N] [timeout=30s]            waits for agents
//	follow NAME ACTOR [SPACE] [after=NAME|@PLACE] [presence] [receipts]       starts to follow, after the last event of the named follower
//	events NAME                       the events since the last call (entity.updated only with presence, delivery.updated only with receipts)
//	unfollow NAME                     its connection is closed
//	key NAME ROLE [ENTITY] [human] [expires=1h] [by=ACTOR]         revoke NAME [by=ACTOR]
//	check NAME                        prints the principal of the key
//	agent ID [name=] [description=] [on=enqueue|interrupt|reject] [settle=1s] [steps=5] [invite=ID,…] [by=ACTOR]
//	                                  hosts the agent with that configuration; hosted ACTOR lists them, and
//	                                  versions ACTOR ID [before=N] its versions
//	unhost ID [by=ACTOR]              its configuration is deleted
//	trigger ACTOR AGENT SERVICE [payload=JSON] [once=KEY]          starts a run; run1 is the first that is shown
//	runs ACTOR [agent=] [space=] [status=]                         run ACTOR RUN
//	cancel-run NAME ACTOR RUN         cancels a run, and waits for its end
//	retry ACTOR RUN [once=]           starts an ended run again
//	claim OWNER [limit=N] [ttl=15s]   OWNER claims runs; renew OWNER [ttl=15s]; orphan OWNER; next-claim
//	start RUN, park RUN, finish RUN STATUS [code=], delegate RUN AGENT
//	                                  a write under the last claim of the run; generation=N uses an older claim
//	say RUN SPACE TEXT [mention=A,B]  the run posts a message
//	ask RUN CALL [kind=client_tool|permission|question|reply] [space=] [target=]
//	                                  the run waits for that; take RUN delivers the answers to it
//	answer ACTOR RUN CALL             returns the result of the client tool
//	plan ACTOR AGENT NAME [cron=] [zone=] [at=1h] [instruction=] [once=KEY]
//	set-plan ACTOR PLAN [name=] [cron=] [zone=] [at=] [status=]    plans ACTOR AGENT; delete-plan ACTOR PLAN
//	advance DURATION                  lets time pass
//	hold [counts] [acks]              from now on, a call that reads an inbox (or counts deliveries, or acknowledges)
//	                                  is held after it has done so
//	step                              the calls held now continue, later ones are still held
//	release                           all calls continue
//	unsure                            the next change is stored, but the result of the store is lost
//	restart [keep=N] [after=1h] [killed]   the hub stops, and (after that time) another one, which keeps N events of a space,
//	                                  starts on the same store; killed: nothing in progress is stored any more
//
// [PlayWith] runs scenarios whose hosted agents are executed; stage_hosting.go documents
// the additional commands.
package shoaltest
