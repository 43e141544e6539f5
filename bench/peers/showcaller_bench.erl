%% The jobs of the runtime rows, as an Erlang programmer would write them: processes and plain messages.
%% Run by erlang_otp.py: main([Row, Count]) prints the figure in its base unit.
-module(showcaller_bench).
-export([main/1]).

-define(ROUND, 1000).
-define(ACTORS, 1000).
-define(EACH, 10).

main([Row, Count]) ->
    Figure = run(Row, list_to_integer(Count)),
    io:format("~.9e~n", [float(Figure)]),
    halt(0).

run("tell-one", Count) -> tell(1, ?ROUND, max(1, Count div ?ROUND));
run("tell-many", Count) -> tell(?ACTORS, ?EACH, max(1, Count div (?ACTORS * ?EACH)));
run("ping-pong", Count) -> hops(2, 2 * Count) / 2;
run("ring", Count) -> hops(?ACTORS, Count);
run("fan-out", Count) ->
    Repliers = [spawn(fun replier/0) || _ <- lists:seq(1, Count)],
    timed(fun() ->
        Self = self(),
        Coordinator = spawn(fun() ->
            [Replier ! self() || Replier <- Repliers],
            count(Count, Self)
        end),
        await(Coordinator)
    end);
run("ask", Count) ->
    Answerer = spawn(fun answerer/0),
    Self = self(),
    Count / timed(fun() ->
        await(spawn(fun() -> ask(Answerer, Count), Self ! {done, self()} end))
    end);
run("idle-actor", Count) ->
    erlang:garbage_collect(),
    Before = erlang:memory(total),
    Pids = [spawn(fun replier/0) || _ <- lists:seq(1, Count)],
    (erlang:memory(total) - Before) / length(Pids);
run("spawn", Count) ->
    timed(fun() -> started(Count) end) / Count;
run("stop", Count) ->
    Pids = started(Count),
    timed(fun() ->
        Monitors = [begin Monitor = monitor(process, Pid), Pid ! stop, Monitor end || Pid <- Pids],
        [receive {'DOWN', Monitor, process, _, _} -> ok end || Monitor <- Monitors]
    end) / Count;
run("timers-create", Count) ->
    Count / timed(fun() ->
        [erlang:send_after(3600000 + N, self(), N) || N <- lists:seq(1, Count)]
    end);
run("timers-fire", Count) ->
    Due = now_ms() + 100 + Count div 50,
    [erlang:send_after(Due, self(), tick, [{abs, true}]) || _ <- lists:seq(1, Count)],
    [receive tick -> ok end || _ <- lists:seq(1, Count)],
    Count / (now_s() - Due / 1000);
run("timers-lateness", Count) ->
    First = now_ms() + 100 + Count div 50,
    [begin
        Due = First + N div 20,
        erlang:send_after(Due, self(), {due, Due}, [{abs, true}])
     end || N <- lists:seq(0, Count - 1)],
    Late = lists:sort([receive {due, Due} -> now_s() - Due / 1000 end || _ <- lists:seq(1, Count)]),
    lists:nth(max(1, Count * 99 div 100), Late).

%% -- time -----------------------------------------------------------------------------------------

now_s() -> erlang:monotonic_time(nanosecond) / 1.0e9.
now_ms() -> erlang:monotonic_time(millisecond).

timed(Job) ->
    Began = now_s(),
    Job(),
    now_s() - Began.

await(Pid) -> receive {done, Pid} -> ok end.

%% -- telling --------------------------------------------------------------------------------------

tell(Targets, Each, Rounds) ->
    Self = self(),
    Pids = [spawn(fun() -> count(Each * Rounds, Self) end) || _ <- lists:seq(1, Targets)],
    Took = timed(fun() ->
        spawn(fun() -> send(Pids, Each * Rounds) end),
        [await(Pid) || Pid <- Pids]
    end),
    Targets * Each * Rounds / Took.

send(_, 0) -> ok;
send([Pid], Left) -> Pid ! Left, send([Pid], Left - 1);
send(Pids, Left) -> [Pid ! Left || Pid <- Pids], send(Pids, Left - 1).

count(0, Parent) -> Parent ! {done, self()};
count(Left, Parent) -> receive _ -> count(Left - 1, Parent) end.

hops(Actors, Hops) ->
    Self = self(),
    First = spawn(fun() -> receive {next, Next} -> member(Next, Self) end end),
    Last = lists:foldl(fun(_, Next) -> spawn(fun() -> member(Next, Self) end) end, First, lists:seq(2, Actors)),
    First ! {next, Last},
    Hops / timed(fun() -> First ! Hops, receive finished -> ok end end).

member(Next, Parent) ->
    receive
        0 -> Parent ! finished, member(Next, Parent);
        Left -> Next ! (Left - 1), member(Next, Parent)
    end.

replier() ->
    receive
        stop -> ok;
        Sender -> Sender ! 1, replier()
    end.

started(Count) ->
    Pids = [spawn(fun replier/0) || _ <- lists:seq(1, Count)],
    lists:last(Pids) ! self(),
    receive 1 -> Pids end.

%% -- asking ---------------------------------------------------------------------------------------

%% A reference and a selective receive: quicker than gen_server:call, which also watches the other.

ask(_, 0) -> ok;
ask(Answerer, Left) ->
    Reference = make_ref(),
    Answerer ! {self(), Reference, Left},
    receive {Reference, _} -> ask(Answerer, Left - 1) end.

answerer() ->
    receive {Asker, Reference, Message} -> Asker ! {Reference, Message}, answerer() end.
