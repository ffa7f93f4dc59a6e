-- Takes the lock, or takes (or refreshes) a place in its line.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 mode 'w' | 'r', 3 lease in us, 4 owner ('' = this hold alone),
--       5 waiter lease in us (0 = do not queue)
-- Returns  {1, token}     granted; asking again with the same id extends the lease
--          {2, retry_us}  queued; look again after retry_us unless woken earlier
--          {0, retry_us}  busy, not queued
--          {3}            would deadlock: a reader asks for write beside other readers
local lock, id, mode, lease = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local f = redis.call('HMGET', lock, 't', 'w', 'r', 'q', 'x', '+' .. id)
local last = tonumber(f[1]) or 0
if now < last then now = last end
local token = now
if token == last then token = last + 1 end
local deadline = now + lease

-- Nothing recorded: the uncontended path.
if not (f[2] or f[3] or f[4]) then
  local record = string.format('%s %.0f %.0f %s', mode, deadline, token, ARGV[4])
  if mode == 'w' then
    redis.call('HSET', lock, 't', token, 'x', deadline, '+' .. id, record,
      'w', string.format('%.0f 1 %s', deadline, ARGV[4] == '' and id or ARGV[4]))
  else
    redis.call('HSET', lock, 't', token, 'x', deadline, '+' .. id, record, 'r', 1)
  end
  redis.call('PEXPIRE', lock, math.ceil(lease / 1000) + 1000)
  return {1, token}
end

-- Another reader beside readers, nobody queued: still O(1). Every 64th reader takes the long way,
-- which drops the holds of crashed readers.
local count = tonumber(f[3]) or 0
local latest = tonumber(f[5]) or 0
if mode == 'r' and ARGV[4] == '' and not (f[2] or f[4] or f[6]) and latest > now and count % 64 ~= 0 then
  if deadline > latest then latest = deadline end
  redis.call('HSET', lock, 't', token, 'x', latest, 'r', count + 1,
    '+' .. id, string.format('r %.0f %.0f ', deadline, token))
  redis.call('PEXPIRE', lock, math.ceil((latest - now) / 1000) + 1000)
  return {1, token}
end

-- include: common.lua

local owner = ARGV[4] == '' and id or ARGV[4]
local waiter_lease = tonumber(ARGV[5])
local holds = load_holds()

local mine = holds.by_id[id]
if mine then -- The reply was lost and the request sent again.
  if deadline > mine.deadline then mine.deadline = deadline end
  save_hold(holds, mine)
  return {1, mine.token}
end

-- What the other owners hold decides; what this owner holds lets it re-enter past the line.
local own_write, own_read, others_until = false, false, 0
for _, h in ipairs(holds.list) do
  if h.owner == owner then
    if h.mode == 'w' then own_write = true else own_read = true end
  elseif h.mode == 'w' or mode == 'w' then
    if h.deadline > others_until then others_until = h.deadline end
  end
end
local reenters = own_write or own_read
if others_until > 0 and own_read and mode == 'w' and waiter_lease > 0 then return {3} end

local seq = place_of(id)
local blocked_until = others_until
if others_until == 0 and not reenters then
  blocked_until = line_blocks(mode, id, seq)
end

if blocked_until == 0 then
  if seq then leave_line(id) end
  save_hold(holds, {id = id, mode = mode, deadline = deadline, token = token, owner = ARGV[4]}, token)
  return {1, token}
end
if waiter_lease == 0 then
  return {0, blocked_until - now}
end
join_line(mode, id, seq, waiter_lease, holds)
return {2, blocked_until - now}
