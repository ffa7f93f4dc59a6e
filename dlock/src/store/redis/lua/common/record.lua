-- The record of a lock: its fields, how they are read, and the lock's time. The first of the files that the operations
-- share; they are included after the short paths, which pay nothing for them. Before it stand `call`, `lock`, `time`,
-- `id`, `owner`, `pub` (how to publish, where messages are sent) and `known` (fields that have been read; '' for absent
-- ones).
--
-- KEYS[1] lock: one hash is the whole lock, so that it moves, expires and is evicted as one.
--   t        last token granted. The lock's time does not go back behind it
--   =<id>    the only hold, while the queue is empty: '<mode> <us from t to its deadline> <us from t to the time noted last>
--            <owner>'; its token is t. A write hold without owner as it was granted: '<ms from t to its deadline + 1001>'
-- The others are there while there are several holds, waiters, or tombstones:
--   h        '1 <reads> <writes> <earliest>': how many hold; before <earliest> none of them can have expired. '~' behind it:
--            some of their ids end in '~'. The process of such a hold keeps it for its next task, and gives it back when
--            it is told that others want the lock
--   h<k>     the id of hold k: 1 to reads + writes, without holes
--   +<id>    a hold: '<mode> <deadline> <token> <k> <owner>'; empty owner = the hold stands for itself
--   @<owner> '<reads> <writes>': how many of them are an explicit owner's
--   e        '<k> <earliest>': holds above k have been reviewed, and none of them ends before <earliest>
--   w        '1 <count> <head> <front> <tail>': the queue of writers. No waiter before <front> is subscribed
--   r        '1 <count> <head> <front> <tail> <phase> <told>': the queue of readers. Readers up to <phase> enter
--            before the next writer; readers up to <told> have been notified
--   W<i>, R<i>  a waiter: '<id> <deadline> <readers before it> <ear> <nonce> <since> <owner>'. Ear: 0 not subscribed
--            yet, 1 subscribed by SSUBSCRIBE, 3 by SUBSCRIBE, 2 should have received a message and has not: the
--            position is kept, but blocks no other waiter. <since> is only for inspect.lua
--   ?<id>    the field of its position
--   x        until when the key is kept
--   n        a time that was noted when a hold was renewed or a position refreshed: the lock's time does not go back behind it
--   o        how far the lock's time is ahead of the server's, since the server's clock was set back or a token came from
--            a server whose clock is ahead; a second number is added to the deadlines of all holds, in h and e too
--   -<id>    tombstone: until when (server's time) a delayed acquire with this id has no effect, nor a renewal of a hold
--            that has been given its end
--   z, z<i>  '<head> <tail> <until when the first stands>' and '<until> <id>': the tombstones in their order. Beside
--            them the only hold has a long record
-- An empty value is void: as good as absent. The 1 in h, w and r is the version of this record.
-- Times are in us, and but for `-` and `z` the lock's: the server's, which goes on where it was if the clock is set
-- back by more than a second, and waits for the clock if by less.
--
-- One HSET commits a change: fields that go are made void by it, and removed afterwards. Messages are sent after it.
--
-- What follows this file in a script stands in a function of its own. Lua finds each variable that a new closure uses by a walk
-- over all variables of running functions that closures use already. The call of that function is the last act of the script,
-- which takes the variables of this file off that list (measured: without it, long scripts take a fifth to a quarter longer).
local PIECE = 128 -- holds or waiters that one script changes at most
local CLEAR = 64 -- waiters with expired positions that one script removes
local FEW = 64 -- waiters without a subscription that one script passes over
local FEW_HOLDS = 16 -- holds of readers that one script reviews so that the next ones are cheap
local MEMORY, SLACK = 60000000, 10000000 -- us: a free lock is remembered so long; keys are kept for more than promised
local STEP, NOTED = 1000000, 500000 -- us: for how long the lock's time stands still; how often a time is noted
local KEPT, MOST = 10000000, 10000 -- us: for how long a position is kept after its end; how far from the end of the queue
local fmt, max, min, match = string.format, math.max, math.min, string.match

local pending, order = {}, {}
local function set(field, value)
  if pending[field] == nil then order[#order + 1] = field end
  pending[field] = value
end
-- The fields of a list, as this script leaves them; false for what is absent or void.
local function get(fields)
  local missing = {}
  for _, field in ipairs(fields) do
    if pending[field] == nil and known[field] == nil then missing[#missing + 1] = field end
  end
  if missing[1] then
    for i, value in ipairs(call('HMGET', lock, unpack(missing))) do known[missing[i]] = value or '' end
  end
  local values = {}
  for i, field in ipairs(fields) do
    local value = pending[field] or known[field]
    values[i] = value ~= '' and value
  end
  return values
end
local function get1(field) return get({field})[1] end

local f = get({'t', 'h', 'w', 'r', 'x', 'o', 'e', 'z', '+' .. id, '?' .. id, '-' .. id, '@' .. owner, 'n'})
local last, noted = tonumber(f[1] or 0), tonumber(f[13] or 0)
local offset, shift = match(f[6] or '0', '^(%d+) ?(%d*)$')
offset, shift = tonumber(offset), tonumber(shift) or 0
local refused
if not last or last >= 9007199254740991 then
  refused = 'DLOCKFOREIGN the last token in this hash is none'
end
local reads, writes, earliest, lingers = match(f[2] or '1 0 0 0', '^1 (%d+) (%d+) (%d+)(~?)$')
local W, R = {kind = 'W', field = 'w'}, {kind = 'R', field = 'r'}
W.count, W.head, W.front, W.tail = match(f[3] or '1 0 1 1 0', '^1 (%d+) (%d+) (%d+) (%d+)$')
R.count, R.head, R.front, R.tail, R.phase, R.told =
  match(f[4] or '1 0 1 1 0 0 0', '^1 (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
if not (reads and W.count and R.count) then
  refused = 'DLOCKFOREIGN this lock was written by another version of dlock'
end
if refused then return redis.error_reply(refused) end
reads, writes, earliest = reads + 0, writes + 0, earliest + shift
for _, line in ipairs({W, R}) do
  for name, value in pairs(line) do line[name] = tonumber(value) or value end
end

local real = time[1] * 1000000 + time[2]
local recorded = real + offset
local now = recorded
local function set_offset() set('o', shift > 0 and fmt('%d %d', offset, shift) or fmt('%d', offset)) end

-- The lock's time is not before this one.
local function not_before(moment)
  if moment <= now then return end
  if moment - recorded > STEP then
    offset = moment - real
    set_offset()
  end
  now = moment
end
not_before(max(last, noted))

-- Tokens up to this one were used without the server: the next one is larger.
local function pass(token)
  if token <= last then return end
  last = token
  set('t', fmt('%d', last))
  recorded = real + offset
  not_before(last)
end

-- Notes what time it is, in case the clock is set back; now and then, as it costs something.
local function note_time()
  if now - max(last, noted) < NOTED then return end
  noted = now
  set('n', fmt('%d', now))
end
