-- Shared by the operations; included after the uncontended path, which pays nothing for it.
--
-- KEYS[1] lock: a hash with
--   t        last token granted; time does not go back behind it
--   =<id>    the only hold, while nobody waits: '<mode> <us from t to its deadline> <owner>', its token
--            is t; empty owner = the hold stands for itself
--            The fields that follow are there while several hold or somebody waits:
--   +<id>    a hold: '<mode> <deadline> <token> <owner>'
--   w        number of such write holds, while there are any
--   r        '<count> <earliest>' of such read holds, while there are any: before <earliest> none of
--            them can have expired
--   x        latest deadline promised to a hold or a waiter since the lock was last free
--   q        'w' while writers may be waiting in the line, 'r' while readers may be, too
-- KEYS[2] line: a hash with
--   s        the last place given out
--   p        readers at or before this place enter before the next writer
--   <id>     a waiter: '<deadline> <owner>'; when the deadline passes without a refresh, the place is lost
-- KEYS[3] waiting writers, KEYS[4] waiting readers: sorted sets, id -> place
-- All times are server time in us. All keys expire one second after the latest deadline, whether that was
-- needed or not: until then no clock that steps back can repeat a token.
local line, writers, readers = KEYS[2], KEYS[3], KEYS[4]
local holds = {list = {}, by_id = {}, latest = 0, was = {}}
local put, gone = {}, {}

local function add_hold(hold)
  hold.owner = hold.label == '' and hold.id or hold.label
  holds.list[#holds.list + 1] = hold
  holds.by_id[hold.id] = hold
end

-- Writes a hold in the record of holds one by one.
local function put_hold(hold)
  put[#put + 1] = '+' .. hold.id
  put[#put + 1] = string.format('%s %d %d ', hold.mode, hold.deadline, hold.token) .. hold.label
end

local function is_write_held()
  for _, hold in ipairs(holds.list) do
    if hold.mode == 'w' then return true end
  end
  return false
end

-- At the end of a write phase everybody who reads and waits enters next.
local function end_write_phase()
  if holds.waiting and not is_write_held() and call('EXISTS', readers) == 1 then
    call('HSET', line, 'p', call('HGET', line, 's'))
  end
end

-- Reads all holds and drops the expired ones.
local function load_holds()
  local all, write_died = call('HGETALL', lock), false
  local function admit(hold)
    if hold.deadline > now then return add_hold(hold) end
    if holds.listed then gone[#gone + 1] = '+' .. hold.id end
    write_died = write_died or hold.mode == 'w'
  end
  for i = 1, #all, 2 do
    if string.byte(all[i]) ~= 43 then holds.was[all[i]] = all[i + 1] end -- '+'
  end
  holds.waiting, holds.listed = holds.was.q ~= nil, holds.was.x ~= nil
  holds.readers_wait = holds.was.q == 'r'
  holds.latest = tonumber(holds.was.x or 0)
  for i = 1, #all, 2 do
    local kind, id, value = string.byte(all[i]), string.sub(all[i], 2), all[i + 1]
    if kind == 43 then
      local mode, deadline, token, label = string.match(value, '^(%a) (%d+) (%d+) (.*)$')
      admit({id = id, mode = mode, deadline = tonumber(deadline), token = tonumber(token), label = label})
    elseif kind == 61 then -- '='
      local mode, left, label = string.match(value, '^(%a) (%d+) (.*)$')
      holds.latest = last + left
      admit({id = id, mode = mode, deadline = last + left, token = last, label = label})
    end
  end
  holds.kept = holds.latest
  if write_died then end_write_phase() end
end

-- Notes that the lock must be remembered beyond a deadline.
local function promise(deadline)
  if deadline > holds.latest then holds.latest = deadline end
end

-- The lock is free: what was promised before does not count any more.
local function start_afresh()
  holds.latest, holds.kept = 0, 0
end

-- Takes a hold away.
local function drop_hold(id)
  local left = {}
  for _, hold in ipairs(holds.list) do
    if hold.id ~= id then left[#left + 1] = hold end
  end
  local dropped = holds.by_id[id]
  holds.list, holds.by_id[id] = left, nil
  if holds.listed then gone[#gone + 1] = '+' .. id end
  if dropped.mode == 'w' then end_write_phase() end
end

-- Writes the lock as it is now. Numbers are written with %d: left to themselves, Lua and Redis write
-- them as floating point, which takes several times as long.
local function save()
  local is = {t = string.format('%d', last)}
  local first, writes, reads, earliest = holds.list[1], 0, 0, math.huge
  if first or holds.waiting then
    local alone = first and not holds.list[2] and not holds.waiting
    if alone and first.token == last and first.deadline > last and first.deadline == holds.latest then
      is['=' .. first.id] = string.format('%s %d ', first.mode, first.deadline - last) .. first.label
      if holds.listed then gone[#gone + 1] = '+' .. first.id end
      put = {}
    else
      for _, hold in ipairs(holds.list) do
        if hold.mode == 'w' then
          writes = writes + 1
        else
          reads = reads + 1
          if hold.deadline < earliest then earliest = hold.deadline end
        end
        if not holds.listed then put_hold(hold) end
      end
      is.x = string.format('%d', holds.latest)
      if writes > 0 then is.w = string.format('%d', writes) end
      if reads > 0 then is.r = string.format('%d %d', reads, earliest) end
      if holds.waiting then is.q = holds.readers_wait and 'r' or 'w' end
    end
  end
  for field in pairs(holds.was) do
    local ours = #field == 1 or string.byte(field) == 61 -- '='
    if ours and not is[field] then gone[#gone + 1] = field end
  end
  for field, value in pairs(is) do
    if holds.was[field] ~= value then
      put[#put + 1] = field
      put[#put + 1] = value
    end
  end
  for i = 1, #gone, 1000 do
    call('HDEL', lock, unpack(gone, i, math.min(i + 999, #gone)))
  end
  if #put > 0 then call('HSET', lock, unpack(put)) end
  if holds.latest > holds.kept then
    call('PEXPIREAT', lock, string.format('%d', math.floor(holds.latest / 1000) + 1001))
  end
end

-- Forgets the line once nobody is in it.
local function tidy_line()
  if holds.waiting and call('EXISTS', writers, readers) == 0 then
    call('DEL', line)
    holds.waiting = false
  end
end

local function leave_line(id)
  if call('ZREM', writers, id) == 0 then call('ZREM', readers, id) end
  call('HDEL', line, id)
  tidy_line()
end

-- The deadline and the owner of somebody in the line. Who did not refresh in time loses its place here.
local function waits_until(id, record)
  local deadline, label = string.match(record or '0 ', '^(%d+) (.*)$')
  deadline = tonumber(deadline)
  if deadline > now then return deadline, label end
  leave_line(id)
  return nil
end

local function is_waiting(id)
  local record = holds.waiting and call('HGET', line, id)
  return record and waits_until(id, record) ~= nil
end

-- The first live waiter of a queue: its id, place, deadline and owner. Dead ones before it are dropped.
local function head(queue)
  while holds.waiting do
    local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    if not first[1] then return nil end
    local deadline, label = waits_until(first[1], call('HGET', line, first[1]))
    if deadline then return first[1], tonumber(first[2]), deadline, label end
  end
end

-- The place up to which readers enter before the next writer.
local function readers_first()
  return tonumber(call('HGET', line, 'p') or 0)
end

-- Whether the line keeps this asker out although no hold does: 0, or when to look again.
local function line_blocks(mode, id, seq)
  local writer, writer_seq, writer_until = head(writers)
  if mode == 'r' then
    if not writer or seq and (seq < writer_seq or seq <= readers_first()) then return 0 end
    return writer_until
  end
  if writer and writer ~= id then return writer_until end
  local reader, reader_seq, reader_until = head(readers)
  if not reader or seq and reader_seq > seq and reader_seq > readers_first() then return 0 end
  return reader_until
end

-- Takes a place in the line, or refreshes the one it has.
local function join_line(mode, id, label, seq, waiter_lease)
  local queue, deadline = mode == 'w' and writers or readers, now + waiter_lease
  local fields = {id, string.format('%d ', deadline) .. label}
  if not seq then
    local s = math.max(tonumber(call('HGET', line, 's') or 0) + 1, now)
    s = string.format('%d', s)
    call('ZADD', queue, s, id)
    fields[3], fields[4] = 's', s
  end
  call('HSET', line, unpack(fields))
  holds.waiting = true
  if mode == 'r' then holds.readers_wait = true end
  promise(deadline)
  local at = string.format('%d', math.floor(holds.latest / 1000) + 1001)
  call('PEXPIREAT', line, at)
  call('PEXPIREAT', queue, at)
end

-- Tells a waiter. How many heard it.
local function notify(id, message)
  if publish == '' then return 0 end
  local heard = redis.pcall(publish, channel .. (string.match(id, '^(.*)/') or id), message)
  return type(heard) == 'number' and heard or 0
end

-- Lets in those whom the lock admits now, and nobody else. Readers are told to look. A writer who hears
-- of it holds the lock from here on, for as long as its place would have been kept: the message
-- is the grant.
local function pass_on()
  if is_write_held() then return end
  local writer, place, deadline, label = head(writers)
  if head(readers) then
    local upto = writer and string.format('%d', math.max(place, readers_first())) or '+inf'
    local entering = call('ZRANGEBYSCORE', readers, '-inf', upto)
    for _, id in ipairs(entering) do
      if is_waiting(id) then notify(id, id) end
    end
    if #entering > 0 then return end
  else
    holds.readers_wait = false
  end
  if not writer then return tidy_line() end
  if holds.list[1] then return end
  local token = math.max(now, last + 1)
  call('ZREM', writers, '') -- If Redis refuses writes, it must before anybody is told.
  if notify(writer, writer .. string.format(' %d', token)) > 0 then
    leave_line(writer)
    last = token
    local hold = {id = writer, mode = 'w', deadline = deadline, token = token, label = label}
    add_hold(hold)
    if holds.listed then put_hold(hold) end
    return
  end
  -- Nobody hears for a head that died or has not subscribed yet: the next one then looks too.
  for _, id in ipairs(call('ZRANGE', writers, 1, 3)) do
    if notify(id, id) > 0 then return end
  end
end
