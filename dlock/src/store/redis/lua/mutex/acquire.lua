-- Takes a mutex, or takes (or refreshes) a position in its queue.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out: then there is no queue, and waiters poll
-- ARGV  1 hold id, 2 lease in ms, 3 as in acquire.lua, 4 '1' if the hold needs a token
-- Returns  as acquire.lua does; the token of one that needs none may be any number
local call = redis.call
local key, lock, id, fenced = KEYS[1], KEYS[2], ARGV[1], ARGV[4] == '1'
local lease = ARGV[2] * 1000
local valid, place_lease, ear, nonce, pub = string.match(ARGV[3], '^(%d+) (%d+) (%d) (%S+) (%S*)$')
local time = call('TIME')
local us = time[1] * 1000000 + time[2]

if not lock then
  if tonumber(valid) < us then return {6, us} end
  local value = call('GETEX', key)
  if value == id .. '+' then value = id end -- Marked: see mutex/string.lua.
  if not value then call('SET', key, id, 'PX', ARGV[2]) end
  if value == id and call('PTTL', key) < tonumber(ARGV[2]) then call('PEXPIRE', key, ARGV[2]) end
  if not value or value == id then return us end
  local left = call('PTTL', key)
  left = left < 0 and 3600000000 or math.min(left, 1000000000000) * 1000 + 1000
  if place_lease == '0' then return {0, left} end
  return {2, math.min(left, 20000), 0, us}
end

-- The fields of the hash that are read, in one command. (A mutex has no readers and no other holds in it.)
local fields = {'t', 'w', 'x', 'o', 'z', '?' .. id, '-' .. id, 'q', 'p', 'b', 'g', 'n', 'h'}
local owner, known = '', {r = '', e = '', ['@'] = '', ['+' .. id] = ''}
local remembered = false
for i, value in ipairs(call('HMGET', lock, unpack(fields))) do
  known[fields[i]] = value or ''
  remembered = remembered or value
end
place_lease = tonumber(place_lease)

-- A free mutex without a queue and a token, in fewer steps: the functions below take the server longer than the commands.
if not remembered and not fenced and not call('GETEX', key) then
  if tonumber(valid) < us then return {6, us} end
  call('SET', key, id, 'PX', ARGV[2])
  return us
end

-- Joins the queue of a mutex that was handed over to another client, as below, in fewer steps.
if place_lease > 0 and known.g ~= '' and known['?' .. id] == '' and known['-' .. id] == ''
  and known.q .. known.o .. known.z == '' then
  local till, of = string.match(known.g, '^(%d+) (.*)$')
  local count, head, front, tail = string.match(known.w == '' and '1 0 1 1 0' or known.w, '^1 (%d+) (%d+) (%d+) (%d+)$')
  local last, kept, noted = tonumber(known.t), tonumber(known.x), tonumber(known.n) or 0
  if tail and last and kept and of ~= id and tonumber(till) > us and tonumber(valid) >= us
    and last <= us and noted <= us and us - last < 400000 and kept >= us + place_lease + 10000000 then -- As promise_place() of lua/common wants it.
    tail = tail + 1
    call('HSET', lock, 'w', string.format('1 %d %d %d %d', count + 1, head, front, tail), '?' .. id, 'W' .. tail,
      'W' .. tail, string.format('%s %d 0 %s %s %d ', id, us + place_lease, ear, nonce, us))
    return {2, till - us, last, us}
  end
end

-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string line telling tombs moments
if tonumber(valid) < real then return {6, real} end
if tonumber(f[11] or 0) > real then return {4} end
sweep_tombs(4)
if get1('z') then promise(real + MEMORY + offset) end -- What is noted is not forgotten for a shorter lease.
sweep(W)
if again then
  commit(true)
  return {5}
end
local passed = place_lease > 0 and not place_of(id) and not free_until() and passed_on()
if passed then
  promise_place(now + place_lease)
  note_time()
  join({id = id, line = W, before = 0, since = now, owner = '', deadline = now + place_lease, ear = ear, nonce = nonce})
  commit()
  mark()
  return {2, passed - now, last, now}
end
if value ~= id and is_stray() then unhold() end

if value == id then -- Granted before: the reply or the message was lost, or has not arrived yet.
  if left < lease then
    call('PEXPIRE', key, ARGV[2])
    left = lease
  end
  if fenced then
    promise(now + left)
    earliest = now + left
    if last == 0 then last = now end
    set('t', fmt('%d', last))
  end
  commit(true)
  return last > 0 and last or now
end

local place = place_of(id)
if place and place_lease > 0 then hear_from(place, ear, now + place_lease) end -- Only who waits says what it hears.

local foreign, free, first = value and not is_own(value), free_until(), front(W)
if again then
  commit(true)
  return {5}
end
local blocked
if value then
  blocked = now + left + 1000
elseif free then
  blocked = now + free - real
elseif first and first.id ~= id then
  blocked = first.deadline
end

if not blocked then
  last = max(now, last + 1)
  if place then leave(place) end
  if get1('q') then set('q', '') end
  if fenced or f[1] then
    set('t', fmt('%d', last))
    if fenced then promise(now + lease) end
  end
  hold(id, 'w', now + lease)
  commit(place) -- Who has a place gets the mutex also on a server that is out of memory.
  return last
end
local seen_for = foreign and note_foreign()
if place_lease == 0 then
  if f[1] then commit(true) end
  return {0, blocked - now}
end
promise_place(now + place_lease)
note_time()
if last == 0 then
  last = now
  set('t', fmt('%d', last))
end
local known_place = place
place = place or {id = id, line = W, before = 0, since = now, owner = ''}
place.deadline, place.ear, place.nonce = now + place_lease, ear, nonce
if known_place then write_waiter(place) else join(place) end
commit(known_place)
mark()
local retry = blocked - now
if not first or first.id == id then
  -- No message says when the hold of another program ends: the first in the queue polls, less often the longer it lasts.
  if foreign then retry = min(retry, max(5000, min(100000, math.floor(seen_for / 10)))) end
  if free then retry = min(retry, GLANCE) end
end
local reply = {2, retry, last, now}
if trusted and not value and not free and (rouse() or value == id) then reply = {5} end
commit(true)
return reply
end)()
