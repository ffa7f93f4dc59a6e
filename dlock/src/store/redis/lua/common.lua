-- Shared by the operations; included after the short paths, which pay nothing for it. Before it stand `call`,
-- `lock`, `time`, `id`, `owner`, `pub` (how to publish, where messages are sent) and `known` (fields that have been
-- read; '' for absent ones).
--
-- KEYS[1] lock: one hash is the whole lock, so that it moves, expires and is evicted as one.
--   t        last token granted. The lock's time does not go back behind it
--   =<id>    the only hold, while nobody waits: '<mode> <us from t to its deadline> <owner>'; its token is t. A write
--            hold without owner as it was granted: '<ms from t to its deadline + 1001>'
-- The others are there while several hold, somebody waits, or a request must stay without effect:
--   h        '1 <reads> <writes> <earliest>': how many hold; before <earliest> none of them can have expired
--   h<k>     the id of hold k: 1 to reads + writes, without holes
--   +<id>    a hold: '<mode> <deadline> <token> <k> <owner>'; empty owner = the hold stands for itself
--   @<owner> '<reads> <writes>': how many of them are an explicit owner's
--   e        '<k> <earliest>': holds above k have been reviewed, and none of them ends before <earliest>
--   w        '1 <count> <head> <front> <tail>': the line of writers. Before <front> nobody waits who can hear
--   r        '1 <count> <head> <front> <tail> <phase> <told>': the line of readers. Those up to <phase> enter
--            before the next writer, those up to <told> know of it
--   W<i>, R<i>  a waiter: '<id> <deadline> <readers before it> <ear> <nonce> <owner>'. Ear: 0 not subscribed yet,
--            1 hears SPUBLISH, 3 hears PUBLISH, 2 should have heard and has not: the place is kept, but holds
--            nobody up
--   ?<id>    the field of its place
--   x        until when the key is kept
--   o        how far the lock's time is ahead of the server's, since the server's clock was set back
--   -<id>    until when (server's time) an acquire with this id that is still on its way has no effect
--   z, z<i>  '<head> <tail>' and '<until> <id>': those ids in their order
-- An empty value is void: as good as absent. The 1 in h, w and r is the version of this record.
-- Times are in us, and but for `-` and `z` the lock's: the server's, which goes on where it was if the clock is set
-- back by more than a second, and waits for the clock if by less.
--
-- One HSET commits a change: what goes is made void by it, and removed afterwards. Nobody is told before.
local PIECE = 128 -- what is done to many holds or waiters is done to so many in one script
local CLEAR = 64 -- waiters whose places are over and whom one script removes
local FEW = 64 -- waiters that do not hear whom one script passes over
local MEMORY, SLACK = 60000000, 10000000 -- us: a free lock is remembered so long; keys are kept for more than promised
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

local f = get({'t', 'h', 'w', 'r', 'x', 'o', 'e', 'z', '+' .. id, '?' .. id, '-' .. id, '@' .. owner})
local last, offset = tonumber(f[1] or 0), tonumber(f[6] or 0)
local refused
if not last or last >= 9007199254740991 then
  refused = 'DLOCKFOREIGN the last token in this hash is none'
end
local reads, writes, earliest = match(f[2] or '1 0 0 0', '^1 (%d+) (%d+) (%d+)$')
local W, R = {kind = 'W', field = 'w'}, {kind = 'R', field = 'r'}
W.count, W.head, W.front, W.tail = match(f[3] or '1 0 1 1 0', '^1 (%d+) (%d+) (%d+) (%d+)$')
R.count, R.head, R.front, R.tail, R.phase, R.told =
  match(f[4] or '1 0 1 1 0 0 0', '^1 (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
if not (reads and W.count and R.count) then
  refused = 'DLOCKFOREIGN this lock was written by another version of dlock'
end
if refused then return redis.error_reply(refused) end
reads, writes, earliest = reads + 0, writes + 0, earliest + 0
for _, line in ipairs({W, R}) do
  for name, value in pairs(line) do line[name] = tonumber(value) or value end
end

local real = time[1] * 1000000 + time[2]
local now = real + offset
if now < last then
  if last - now > 1000000 then
    offset = last - real
    set('o', fmt('%d', offset))
  end
  now = last
end
local kept = tonumber(f[5] or 0)
local keep, listed, giving, again = kept, false, false, false
-- Notes that the lock must be remembered beyond a deadline.
local function promise(deadline)
  if deadline > keep then keep = deadline + SLACK end
end

local function expire(span)
  return redis.pcall('PEXPIREAT', lock, fmt('%d', math.floor((now - offset + span) / 1000) + 1001))
end

local function fails(reply)
  return type(reply) == 'table' and reply.err
end

local function must(reply)
  if fails(reply) then error(reply.err) end
end

local heads = {'h', 'w', 'r'}

-- Writes all changes. With `even_if_full` also to a server that is out of memory: once a script has written, even
-- if to no effect, it may go on.
local function commit(even_if_full)
  local total, lines = reads + writes, W.count + R.count
  local h, w, r
  if total > 0 then h = fmt('1 %d %d %d', reads, writes, earliest) end
  if W.tail > 0 and lines > 0 then w = fmt('1 %d %d %d %d', W.count, W.head, W.front, W.tail) end
  if R.tail > 0 and lines > 0 then
    r = fmt('1 %d %d %d %d %d %d', R.count, R.head, R.front, R.tail, R.phase, R.told)
  end
  local freed = not (h or w or r) and (f[2] or f[3] or f[4] or listed)
  if freed then
    for _, field in ipairs({'e', 'x', giving and 'o' or 'e'}) do
      if get1(field) then set(field, '') end
    end
  end
  for i, value in ipairs({h or '', w or '', r or ''}) do
    if value ~= (f[i + 1] or '') then
      set(heads[i], value)
      f[i + 1] = value ~= '' and value
    end
  end
  if not order[1] then return end
  local longer = keep > kept
  if longer and (h or w or r) then set('x', fmt('%d', keep)) end
  local changes, gone = {}, {}
  for i, field in ipairs(order) do
    local value = pending[field]
    changes[2 * i - 1], changes[2 * i] = field, value
    if value == '' then gone[#gone + 1] = field end
    known[field] = value
  end
  pending = {}
  -- The expiry comes first, so that no record is ever without; a key that is not there yet gets it afterwards.
  -- A free lock has an expiry of its own, in the server's time.
  local moved = keep > 0 and known.o ~= (f[6] or '')
  if f[1] and not freed and (longer or moved) then must(expire(keep - now)) end
  local full = fails(redis.pcall('HSET', lock, unpack(changes)))
  if full then
    if even_if_full then call('HDEL', lock, '') end
    call('HSET', lock, unpack(changes))
  end
  if not f[1] then
    local failure = expire(keep - now)
    if fails(failure) then
      call('HDEL', lock, unpack(order))
      must(failure)
    end
  elseif freed then
    expire(min(keep - now, MEMORY))
  end
  f[1], f[6], kept, order = true, known.o ~= '' and known.o, keep, {}
  for i = 1, #gone, 1000 do
    call('HDEL', lock, unpack(gone, i, min(i + 999, #gone)))
  end
  if freed then kept, keep, listed = 0, 0, false end
end

-- Holds.

local function count_owner(of, mode, change)
  if of == '' then return end
  local r, w = match(get1('@' .. of) or '0 0', '^(%d+) (%d+)$')
  r, w = mode == 'r' and r + change or r + 0, mode == 'w' and w + change or w + 0
  set('@' .. of, r + w > 0 and fmt('%d %d', r, w) or '')
end

local function hold(hold_id, mode, deadline, token, of)
  local k = reads + writes + 1
  if k == 1 or deadline < earliest then earliest = deadline end
  if mode == 'w' then writes = writes + 1 else reads = reads + 1 end
  set('h' .. k, hold_id)
  set('+' .. hold_id, fmt('%s %d %d %d ', mode, deadline, token, k) .. of)
  count_owner(of, mode, 1)
  local reviewed, first = match(get1('e') or '', '^(%d+) (%d+)$')
  if reviewed and deadline < first + 0 then set('e', fmt('%s %d', reviewed, deadline)) end
end

-- Takes a hold away; the last one of the list gets its number.
local function unhold(hold_id, mode, k, of)
  local n = reads + writes
  if k < n then
    local moved = get1('h' .. n)
    local before, after = match(get1('+' .. moved), '^(%a %d+ %d+ )%d+( .*)$')
    set('+' .. moved, before .. k .. after)
    set('h' .. k, moved)
  end
  set('h' .. n, '')
  set('+' .. hold_id, '')
  if mode == 'w' then writes = writes - 1 else reads = reads - 1 end
  count_owner(of, mode, -1)
end

-- A hold whose lease is not over: its fields.
local function live_hold(who)
  local mode, deadline, token, k, of = match(get1('+' .. who) or '', '^(%a) (%d+) (%d+) (%d+) (.*)$')
  if not mode or tonumber(deadline) <= now then return nil end
  return {id = who, mode = mode, deadline = tonumber(deadline), token = tonumber(token), k = tonumber(k), owner = of}
end

-- At the end of a write phase everybody who reads and waits enters next.
local function end_write_phase()
  if writes == 0 then R.phase = R.tail end
end

-- Goes through the holds from `from` down, at most a piece of them, and takes the expired ones away, until `stop`
-- says so of one that lives. Returns the number of the next one: 0 at the end.
local function walk(from, stop)
  local k, size, wrote = from, 1, writes > 0
  local least = max(from - PIECE, 0)
  while k > least do
    local first, fields, records = max(k - size + 1, least + 1), {}, {}
    for i = first, k do fields[#fields + 1] = 'h' .. i end
    local ids = get(fields)
    for i, of in ipairs(ids) do records[i] = '+' .. of end
    records = get(records)
    for i = #ids, 1, -1 do
      local mode, deadline, _, of = match(records[i], '^(%a) (%d+) (%d+) %d+ (.*)$')
      if tonumber(deadline) <= now then
        unhold(ids[i], mode, first + i - 1, of)
      elseif stop(mode, tonumber(deadline), of) then
        if wrote then end_write_phase() end
        return first + i - 1
      end
    end
    k, size = first - 1, size * 8
  end
  if wrote then end_write_phase() end
  return k
end

-- Takes all expired holds away, and finds out when the next one may expire. In pieces: `again` if there are more.
local function review()
  if earliest > now or reads + writes == 0 then return end
  local from, first = match(get1('e') or '', '^(%d+) (%d+)$')
  if first and first + 0 <= now then from, first = nil, nil end -- One that was reviewed is over by now: all over again.
  from, first = min(tonumber(from) or math.huge, reads + writes), tonumber(first) or math.huge
  local left = walk(from, function(_, deadline)
    first = min(first, deadline)
    return false
  end)
  if left > 0 then
    again = true
    set('e', fmt('%d %d', left, min(first, 9007199254740991)))
  else
    earliest = first
    if get1('e') then set('e', '') end
  end
end

-- A live hold: until when it lasts at least. Takes expired ones away that it meets.
local function witness()
  if reads + writes == 0 then return nil end
  if earliest > now then return earliest end
  local found
  local left = walk(reads + writes, function(_, deadline)
    found = deadline
    return true
  end)
  if found then
    if reads + writes == 1 then earliest = found end
    return found
  end
  again = left > 0
  return again and now + 1 or nil
end

-- The line.

local function read_waiter(line, i, record)
  local who, deadline, before, ear, nonce, of = match(record, '^(%S+) (%d+) (%d+) (%d) (%S+) (.*)$')
  return {id = who, line = line, i = i, deadline = tonumber(deadline), before = tonumber(before), ear = ear,
    nonce = nonce, owner = of}
end

local function write_waiter(waiter)
  set(waiter.line.kind .. waiter.i, fmt('%s %d %d %s %s ', waiter.id, waiter.deadline, waiter.before, waiter.ear,
    waiter.nonce) .. waiter.owner)
end

local function leave(waiter)
  set(waiter.line.kind .. waiter.i, '')
  set('?' .. waiter.id, '')
  waiter.line.count = waiter.line.count - 1
end

local function join(waiter)
  local line = waiter.line
  line.tail = line.tail + 1
  line.count = line.count + 1
  waiter.i = line.tail
  set('?' .. waiter.id, line.kind .. waiter.i)
  write_waiter(waiter)
end

-- The places from `i` on, a few more each time: calls `each(i, waiter)` until that returns true.
local function pass_along(line, i, upto, each)
  local size, seen = 1, 0
  while i <= upto do
    local fields = {}
    for j = i, min(upto, i + size - 1) do fields[#fields + 1] = line.kind .. j end
    for j, record in ipairs(get(fields)) do
      if each(i + j - 1, record and read_waiter(line, i + j - 1, record)) then return end
    end
    i, seen = i + #fields, seen + #fields
    if seen >= 8 * PIECE then
      again = true
      return
    end
    size = min(size * 8, PIECE)
  end
end

local cleared = 0
-- The first waiter of a line who lives and can hear. Places before it that are empty or over are gone for good.
local function front(line)
  local found
  pass_along(line, line.front, line.tail, function(i, waiter)
    if waiter and waiter.deadline > now and waiter.ear ~= '2' then
      found = waiter
      return true
    end
    if waiter and waiter.deadline <= now then
      if cleared == CLEAR then
        again = true
        return true
      end
      leave(waiter)
      waiter, cleared = nil, cleared + 1
    end
    if not waiter and line.head == i then line.head = i + 1 end
    line.front = i + 1
  end)
  return found
end

-- Removes some of the places that are over before the front.
local function sweep(line)
  if line.head >= line.front then return end
  pass_along(line, line.head, min(line.front - 1, line.head + 8), function(i, waiter)
    if waiter and waiter.deadline > now then return true end
    if waiter then leave(waiter) end
    line.head = i + 1
  end)
end

-- The place of an id, if it is still kept.
local function place_of(who)
  local field = get1('?' .. who)
  if not field then return nil end
  local line, i = string.byte(field) == 87 and W or R, tonumber(string.sub(field, 2)) -- 'W'
  local record = get1(field)
  local waiter = record and read_waiter(line, i, record)
  if not waiter or waiter.id ~= who then return nil end
  if waiter.deadline > now then return waiter end
  leave(waiter)
  return nil
end

-- Telling waiters.

local publish, trusted, ear_for, channel, notes = '', false, '', '', nil
if pub and pub ~= '' then
  -- How, and the length of the prefix, behind which '~c' makes a key a channel:
  -- 'S' SPUBLISH, 'P' PUBLISH, 'L' PUBLISH in a cluster, which counts only who listens at this node, 'R' return what is
  -- to be published: while a slot is moving, its subscribers are still at the old node.
  local kind, prefix = match(pub, '^(%a)(%d+)$')
  publish, trusted = kind == 'S' and 'SPUBLISH' or 'PUBLISH', kind == 'S' or kind == 'P'
  ear_for = kind == 'S' and '1' or '3'
  notes = kind == 'R' and {}
  channel = string.sub(lock, 1, prefix) .. '~c' .. string.sub(lock, prefix + 1) .. ':'
end

local messages = 0
-- Whether the message was heard, as far as the server knows.
local function told(waiter, message)
  if publish == '' then return false end
  messages = messages + 1
  local to = channel .. (match(waiter.id, '^(.*)/') or waiter.id)
  if notes then
    notes[#notes + 1], notes[#notes + 2] = to, message
    return false
  end
  local heard = redis.pcall(publish, to, message)
  return type(heard) == 'number' and heard > 0
end

local passed = 0
-- One who has subscribed and does not hear is passed over, but keeps the place.
local function pass_over(waiter)
  if not trusted or waiter.ear ~= ear_for then return false end
  waiter.ear, passed = '2', passed + 1
  write_waiter(waiter)
  return true
end

-- Tells readers up to the end of their phase that they may enter, each once, a piece at a time: those who enter
-- tell the next.
local function tell_readers()
  local reader = front(R)
  if not reader then return end
  local first = max(R.told + 1, reader.i)
  local upto, coming = min(R.phase, first + PIECE - 1), {}
  for i = first, upto do coming[#coming + 1] = 'R' .. i end
  coming = get(coming)
  R.told = max(R.told, upto)
  commit(true)
  for j, record in ipairs(coming) do
    local waiter = record and read_waiter(R, first + j - 1, record)
    if waiter and waiter.deadline > now and waiter.ear ~= '2' and not told(waiter, waiter.id) then pass_over(waiter) end
  end
end

-- Undoes a grant that nobody heard. Whether the next one may be asked.
local function take_back(waiter)
  unhold(waiter.id, 'w', reads + writes, waiter.owner)
  W.count, W.head = W.count + 1, min(W.head, waiter.i)
  set('?' .. waiter.id, 'W' .. waiter.i)
  if pass_over(waiter) then return true end
  write_waiter(waiter)
  W.front = waiter.i
  return false
end

-- Lets in those whom the lock admits now, and nobody else. Readers are told to look; a writer holds the lock from here
-- on, for as long as its place would have been kept: where the server knows who hears, the message is the grant.
local function pass_on()
  for _ = 1, FEW do
    if writes > 0 or messages > PIECE then return end
    local writer, reader = front(W), front(R)
    local phase = writer and max(R.phase, writer.before) or R.tail
    if reader and reader.i <= phase then
      if reader.i <= R.told then return end
      R.phase = max(R.phase, phase)
      tell_readers()
    else
      if not writer or again or reads > 0 and witness() then return end
      if not trusted then
        commit(true)
        told(writer, writer.id)
        return
      end
      last = max(now, last + 1)
      now = max(now, last)
      set('t', fmt('%d', last))
      leave(writer)
      if W.head == writer.i then W.head = writer.i + 1 end
      W.front = writer.i + 1
      hold(writer.id, 'w', writer.deadline, last, writer.owner)
      commit(true)
      if told(writer, writer.id .. ' ' .. writer.nonce .. fmt(' %d', last)) then return end
      if not take_back(writer) then return end
    end
  end
end

-- Nobody holds, and yet somebody in the line keeps others out who ought to have heard of it: finds out whether they do.
-- Whether somebody was passed over.
local function rouse()
  for _ = 1, FEW do
    local writer, reader = front(W), front(R)
    local reads_next = reader and (not writer or reader.i <= max(R.phase, writer.before))
    local first = reads_next and reader or writer
    if again or not first or first.ear ~= ear_for then break end
    if reads_next and reader.i <= R.told then
      if told(reader, reader.id) then break end
      pass_over(reader)
    else
      pass_on()
      break
    end
  end
  return passed > 0
end

-- After a hold or a place was given up: lets in whom that admits.
local function settle()
  giving = true
  if writes > 0 then review() end
  if reads > 0 then witness() end
  pass_on()
end

-- Takes a live hold away, and lets in whom that admits.
local function give_back(mine)
  unhold(mine.id, mine.mode, mine.k, mine.owner)
  if mine.mode == 'w' then end_write_phase() end
  settle()
end

-- Notes the last token that was handed out under a hold without asking here.
local function note_handed(handed)
  if handed <= last then return end
  last = handed
  now = max(now, last)
  set('t', fmt('%d', last))
  promise(last)
end

-- Requests that must stay without effect.

local function sweep_tombs(many)
  if not get1('z') then return 1, 0 end
  local first, tail = match(get1('z'), '^(%d+) (%d+)$')
  first, tail = tonumber(first), tonumber(tail)
  local old, due = first, {}
  for _ = 1, many do
    if first > tail then break end
    local till, of = match(get1('z' .. first) or '0 ', '^(%d+) (.*)$')
    if tonumber(till) > real then break end
    set('z' .. first, '')
    if of ~= '' then due[#due + 1] = '-' .. of end
    first = first + 1
  end
  -- An id may have been noted again since.
  for i, till in ipairs(get(due)) do
    if till and tonumber(till) <= real then set(due[i], '') end
  end
  if first > tail then set('z', '') elseif first > old then set('z', fmt('%d %d', first, tail)) end
  return first, tail
end

-- An acquire with this id has no effect until then.
local function bury(till)
  local first, tail = sweep_tombs(2)
  if till <= real or tonumber(get1('-' .. id) or 0) > real then return end
  tail = tail + 1
  set('-' .. id, fmt('%d', till))
  set('z' .. tail, fmt('%d ', till) .. id)
  set('z', fmt('%d %d', first, tail))
  if not f[1] then set('t', fmt('%d', now)) end
  -- For a minute at most: requests are valid for less, unless the server's clock has been set back since.
  promise(min(till, real + MEMORY) + offset)
  -- What a free lock remembers anyway is not cut short, also not if the server's clock has been set back since.
  if reads + writes + W.count + R.count == 0 then
    keep = max(keep, now + MEMORY, now + 1000 * (call('PTTL', lock) - 1001)) -- expire() adds that.
  end
end

-- Makes a list of the only hold, if there is one, and removes void fields that a script has left behind.
local function list_only_hold(fields)
  if f[2] or fields == 0 or fields > 8 then return end
  local all = call('HGETALL', lock)
  for i = 1, #all, 2 do
    local field, value = all[i], all[i + 1]
    if value == '' then
      if pending[field] == nil then set(field, '') end
    elseif string.byte(field) == 61 then -- '='
      local mode, left, of = match(value, '^(%a) (%d+) (.*)$')
      if not mode and match(value, '^%d+$') then mode, left, of = 'w', (value - 1001) * 1000, '' end
      if not mode then return 'DLOCKFOREIGN this lock was written by another version of dlock' end
      set(field, '')
      listed = true
      promise(last + left)
      if last + left > now then hold(string.sub(field, 2), mode, last + left, last, of) end
    end
  end
end
