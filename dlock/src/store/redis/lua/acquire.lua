-- Takes the lock, or takes (or refreshes) a position in its queue.
--
-- KEYS  lock (see lua/common)
-- ARGV  1 '=<hold id>', 2 '<lease in ms + 1001>' to write without an owner, otherwise '<mode r | w> <lease in us>
--         0 <owner>' (owner '' = this hold alone),
--       3 '<valid until> <place lease> <ear> <nonce> <publish>': the server's time (16 digits) after which this
--         request has no effect any more; for how many us to keep the queue position, 0 = take none; the waiter's
--         subscription (see lua/common); what a grant by message repeats, - while it has none; how to publish
--         (a letter, in capitals or small, and the length of the prefix, or nothing; see lua/common),
--       4 lease in ms + 1001, how long the key lives after a grant, unless that is 2: each argument costs
-- Returns  token          granted; asking again with the same id extends the lease; as text if it was free
--          {2, retry_us, last token, now}  queued; look again after retry_us unless told earlier; a message
--                         about this place carries a larger token; the lock's time
--          {0, retry_us}  busy, not queued
--          {3}            would deadlock: a reader asks for write beside other readers; a queue
--                         position that it has stays its own until it abandons it
--          {4}            this acquire was abandoned, or its hold released
--          {5}            a piece of a long clean-up is done: ask again at once
--          {6, now}       it came too late; the server's time
local call = redis.call
local lock, argv = KEYS[1], ARGV
local fields = call('HLEN', lock)
local t = fields == 1 and call('HGET', lock, 't')
local time = call('TIME')

-- No holds and no waiters. Texts are not converted to numbers: that costs about as much as a command.
if fields <= 1 then
  local us = time[2]
  if #us < 6 then us = string.rep('0', 6 - #us) .. us end
  local token = time[1] .. us
  if (fields == 0 or t and #t == #token and t < token) and token < argv[3] then
    call('HSET', lock, 't', token, argv[1], argv[2])
    local kept = redis.pcall('PEXPIRE', lock, argv[4] or argv[2])
    if kept ~= 1 then -- Refused: no lock stays without an expiry.
      call('HDEL', lock, argv[1], t and '' or 't')
      return kept
    end
    return token
  end
end

-- A function of its own: so its many variables cost the path above nothing.
return (function()
local id, mode, lease, owner = string.sub(argv[1], 2), string.match(argv[2], '^(%a) (%d+) 0 (.*)$')
if not mode then mode, lease, owner = 'w', (argv[2] - 1001) * 1000, '' end
local valid, place_lease, ear, nonce, pub = string.match(argv[3], '^(%d+) (%d+) (%d) (%S+) (%S*)$')
local names = {'t', 'h', 'w', 'r', 'x', 'o', '+' .. id, '?' .. id, '-' .. id, 'e', 'z', 'n'}
local values = call('HMGET', lock, unpack(names))
local known = {['@'] = ''}
for i = 1, 12 do known[names[i]] = values[i] or '' end

-- The lock is certainly held by others, or by readers that this one joins: the common files would do the same at a higher
-- cost.
local us = time[2]
if #us < 6 then us = string.rep('0', 6 - #us) .. us end
local at = time[1] .. us
local h, w, r, x, field = known.h, known.w, known.r, known.x, known['?' .. id]
local MEMORY, NOTED, KEPT = 60000000, 500000, 10000000 -- As in common/record.lua.
local lingering = string.byte(id, -1) == 126 -- '~': recorded with its mark, by the long way.
local plain = known.o == '' and known['+' .. id] == '' and known['-' .. id] == '' and owner == '' and #known.t == #at
  and known.t < at and known.n < at and at < argv[3]
  and (known.z == '' or string.sub(known.z, -17) > ' ' .. at) -- None that is over has to be removed.
if plain and h ~= '' and x ~= '' then
  local reads, writes, earliest = string.match(h, '^1 (%d+) (%d+) (%d+)$')
  if not reads or earliest <= at then -- For the long way.
  elseif writes ~= '0' or mode == 'w' and reads ~= '0' then
    if place_lease == '0' then return {0, earliest - at} end
    local deadline, changes = string.format('%d', at + place_lease), nil
    if x - deadline < KEPT then -- For the long way.
    elseif field ~= '' then
      local who, till, before, heard, since = string.match(call('HGET', lock, field) or '',
        '^(%S+) (%d+) (%d+) (%d) %S+ (%d+) ')
      -- A reader that was told to enter, and found the lock taken, is for the long way.
      local told = mode == 'w' and '0' or string.match(r, ' (%d+)$') or '0'
      if who == id and till > at and heard ~= '2' and told - string.sub(field, 2) < 0 then
        changes = {field, id .. ' ' .. deadline .. ' ' .. before .. ' ' .. ear .. ' ' .. nonce .. ' ' .. since .. ' '}
      end
    else
      local line = mode == 'w' and w or r
      local count, head, front, tail, rest = string.match(line, '^1 (%d+) (%d+) (%d+) (%d+)(.*)$')
      if line == '' then
        count, head, front, tail, rest = 0, 1, 1, 0, mode == 'w' and '' or ' 0 0'
      end
      if count then
        local before = mode == 'w' and string.match(r, '^1 %d+ %d+ %d+ (%d+) ') or '0'
        tail = tail + 1
        local place = (mode == 'w' and 'W' or 'R') .. tail
        changes = {place, id .. ' ' .. deadline .. ' ' .. before .. ' ' .. ear .. ' ' .. nonce .. ' ' .. at .. ' ',
          '?' .. id, place,
          mode == 'w' and 'w' or 'r', '1 ' .. count + 1 .. ' ' .. head .. ' ' .. front .. ' ' .. tail .. rest}
      end
    end
    if changes then
      if at - known.t >= NOTED and (known.n == '' or at - known.n >= NOTED) then
        changes[#changes + 1], changes[#changes + 2] = 'n', at
      end
      if field ~= '' and type(redis.pcall('HSET', lock, unpack(changes))) == 'table' then
        call('HDEL', lock, '') -- Who has a place keeps it, also on a server that is out of memory.
        call('HSET', lock, unpack(changes))
      elseif field == '' then
        call('HSET', lock, unpack(changes))
      end
      return {2, earliest - at, known.t, at}
    end
  elseif w == '' and r == '' and field == '' and known.e == '' and not lingering then
    local deadline = string.format('%d', at + lease)
    if deadline <= x then
      local k = reads + 1
      call('HSET', lock, 't', at, 'h', '1 ' .. k .. ' 0 ' .. (deadline < earliest and deadline or earliest),
        'h' .. k, id, '+' .. id, 'r ' .. deadline .. ' ' .. at .. ' ' .. k .. ' ')
      return at
    end
  end
end
-- No holds and no waiters, but tombstones. (A hash with more fields than those has void ones, which the common files remove.)
local first, tail = string.match(known.z, '^(%d+) (%d+) ')
if plain and not lingering and first and h == '' and w == '' and r == '' and fields <= 4 + 2 * (tail - first) then
  local deadline = string.format('%d', at + lease)
  x = string.format('%d', at + math.max(lease, MEMORY))
  call('PEXPIREAT', lock, string.format('%d', math.floor(x / 1000) + 1001))
  call('HSET', lock, 't', at, 'h', (mode == 'r' and '1 1 0 ' or '1 0 1 ') .. deadline, 'h1', id,
    '+' .. id, mode .. ' ' .. deadline .. ' ' .. at .. ' 1 ', 'x', x)
  return at
end
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds line telling tombs only_hold
if tonumber(valid) < real then return {6, real} end
if tonumber(f[11] or 0) > real then return {4} end
refused = list_only_hold(fields)
if refused then return redis.error_reply(refused) end
sweep_tombs(8)
if get1('z') then promise(real + MEMORY + offset) end -- What is noted is not forgotten for a shorter lease.
sweep(W)
sweep(R)

local function own_holds()
  local r, w = match(owner ~= '' and get1('@' .. owner) or '0 0', '^(%d+) (%d+)$')
  return r + 0, w + 0
end
local own_reads, own_writes = own_holds()
if writes + own_reads + own_writes > 0 then review() else review_some(FEW_HOLDS) end
if again then
  commit(true)
  return {5}
end

local mine = live_hold(id)
if mine then -- Granted before: the reply or the message was lost, or has not arrived yet.
  local deadline = max(mine.deadline, now + lease)
  write_hold(id, mine.mode, deadline, mine.token, mine.k, mine.owner)
  promise(deadline)
  commit(true)
  return mine.token
end
local over = get1('+' .. id)
if over then
  local m, k, of = match(over, '^(%a) %d+ %d+ (%d+) (.*)$')
  unhold(id, m, tonumber(k), of)
  if m == 'w' then end_write_phase() end
end

local place = place_of(id)
if place and place_lease ~= '0' then hear_from(place, ear, now + place_lease) end -- Only who waits says what it hears.

-- What the other owners hold decides; what this owner holds lets it re-enter past the line.
own_reads, own_writes = own_holds()
local own, blocked = own_reads + own_writes > 0, nil
if own or mode == 'r' then
  if writes > own_writes or mode == 'w' and reads > own_reads then blocked = earliest end
else
  blocked = witness()
end
place_lease = tonumber(place_lease)
if blocked and own_reads > 0 and place_lease > 0 then
  commit(true)
  return {3}
end
if not blocked and not own then
  local writer = front(W)
  if mode == 'r' then
    if writer and not (place and place.i <= max(R.phase, writer.before)) then blocked = writer.deadline end
  elseif writer and writer.id ~= id then
    blocked = writer.deadline
  else
    local reader = front(R)
    if reader and (not place or reader.i <= max(R.phase, place.before)) then blocked = reader.deadline end
  end
end
if again then
  commit(true)
  return {5}
end

-- Tells the processes that keep the lock for their next tasks that others want it: 128 at most.
local function ask_back()
  if lingers == '' or notes then return end
  local holds = {}
  for k = 1, min(reads + writes, 128) do holds[k] = 'h' .. k end
  for _, of in ipairs(get(holds)) do
    if of and string.byte(of, -1) == 126 then told({id = of}, of) end
  end
end

if not blocked then
  if place then leave(place) end
  last = max(now, last + 1)
  set('t', fmt('%d', last))
  hold(id, mode, now + lease, last, owner)
  promise(now + lease)
  -- A token has no room for what the client would have to publish.
  if mode == 'r' and R.told < R.phase and not notes then tell_readers() end
  commit(place)
  return last
end
if place_lease == 0 then
  if fields > 2 or pending.o then commit(true) end -- Otherwise the only hold stays recorded as such.
  ask_back()
  return {0, blocked - now}
end
promise_place(now + place_lease)
note_time()
local known_place = place
if place then told_in_vain(place) end
place = place or {id = id, line = mode == 'w' and W or R, before = mode == 'w' and R.tail or 0, since = now,
  owner = owner}
place.deadline, place.ear, place.nonce = now + place_lease, ear, nonce
if known_place then write_waiter(place) else join(place) end
commit(known_place)
local reply = {2, blocked - now, last, now}
if trusted and not witness() and (rouse() or get1('+' .. id)) then reply = {5} end
commit(true)
if reply[1] == 2 then ask_back() end
return reply
end)()
end)()
