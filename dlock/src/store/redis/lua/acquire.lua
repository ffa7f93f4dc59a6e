-- Takes the lock, or takes (or refreshes) a place in its line.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua); or the lock alone
-- ARGV  1 '=<hold id>', 2 '<mode w | r> <lease in us> <owner>' (owner '' = this hold alone),
--       3 lease in ms + 1001: how long the key lives after a grant,
--       with all keys: 4 waiter lease in us (0 = do not queue)
-- Returns  token          granted; asking again with the same id extends the lease; as text if it was free
--          {2, retry_us, last token}  queued; look again after retry_us unless told earlier; a message
--                         about this place carries a larger token
--          {0, retry_us}  busy, not queued
--          {3}            would deadlock: a reader asks for write beside other readers; a place
--                         it has in the line stays its own until it abandons it
--          {9}            the line's keys are needed, and nothing was done
local call = redis.call
local lock = KEYS[1]
local fields = call('HLEN', lock)
local t = fields == 1 and call('HGET', lock, 't')
local time = call('TIME')

-- Nobody holds or waits. What is text stays text: a conversion costs about as much as a command.
if fields <= 1 then
  local us = time[2]
  if #us < 6 then us = string.rep('0', 6 - #us) .. us end
  local token = time[1] .. us
  if not t or t < token then
    call('HSET', lock, 't', token, ARGV[1], ARGV[2])
    call('PEXPIRE', lock, ARGV[3])
    return token
  end
end

local id, mode, lease, label = string.sub(ARGV[1], 2), string.match(ARGV[2], '^(%a) (%d+) (.*)$')
local f = call('HMGET', lock, 't', 'r', 'w', 'q', '+' .. id, 'x')
local now, last = time[1] * 1000000 + time[2], tonumber(f[1]) or 0
if now < last then now = last end
local token, deadline = math.max(now, last + 1), now + lease

-- A reader joins readers of whom none has expired: O(1).
if mode == 'r' and f[2] and not (f[3] or f[4] or f[5]) then
  local count, earliest = string.match(f[2], '^(%d+) (%d+)$')
  earliest = tonumber(earliest)
  if earliest > now then
    local latest = math.max(tonumber(f[6]), deadline)
    call('HSET', lock, 't', string.format('%d', token), 'x', string.format('%d', latest),
      'r', string.format('%d %d', count + 1, math.min(earliest, deadline)),
      '+' .. id, string.format('r %d %d ', deadline, token) .. label)
    call('PEXPIREAT', lock, string.format('%d', math.floor(latest / 1000) + 1001))
    return token
  end
end

if not KEYS[2] then return {9} end
-- include: common.lua
local owner = label == '' and id or label
local waiter_lease = tonumber(ARGV[4])
load_holds()

local function answer(reply)
  save()
  return reply
end

local mine = holds.by_id[id]
if mine then -- Granted before: the reply or the message was lost, or has not arrived yet.
  if deadline > mine.deadline then
    mine.deadline = deadline
    if holds.listed then put_hold(mine) end
    promise(deadline)
  end
  return answer(mine.token)
end

-- What the other owners hold decides; what this owner holds lets it re-enter past the line.
local own_write, own_read, others_until = false, false, 0
for _, hold in ipairs(holds.list) do
  if hold.owner == owner then
    if hold.mode == 'w' then own_write = true else own_read = true end
  elseif hold.mode == 'w' or mode == 'w' then
    if hold.deadline > others_until then others_until = hold.deadline end
  end
end
if others_until > 0 and own_read and mode == 'w' and waiter_lease > 0 then return answer({3}) end

local seq = is_waiting(id) and tonumber(call('ZSCORE', mode == 'w' and writers or readers, id))
local blocked_until = others_until
if others_until == 0 and not (own_write or own_read) then
  blocked_until = line_blocks(mode, id, seq)
end

if blocked_until == 0 then
  if seq then leave_line(id) end
  tidy_line()
  if not (holds.list[1] or head(writers) or head(readers)) then start_afresh() end
  last = token
  local hold = {id = id, mode = mode, deadline = deadline, token = token, label = label}
  add_hold(hold)
  if holds.listed then put_hold(hold) end
  promise(deadline)
  return answer(token)
end
if waiter_lease == 0 then return answer({0, blocked_until - now}) end
join_line(mode, id, label, seq, waiter_lease)
return answer({2, blocked_until - now, last})
