-- Takes the lock, or takes (or refreshes) a place in its line.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua); or the lock alone
-- ARGV  1 hold id, 2 mode 'w' | 'r', 3 lease in us, 4 owner ('' = this hold alone),
--       5 waiter lease in us (0 = do not queue)
-- Returns  {1, token}     granted; asking again with the same id extends the lease
--          {2, retry_us}  queued; look again after retry_us unless woken earlier
--          {0, retry_us}  busy, not queued
--          {3}            would deadlock: a reader asks for write beside other readers; a place
--                         it has in the line stays its own until it abandons it
--          {9}            the line's keys are needed, and nothing was done
local lock, id, mode, label = KEYS[1], ARGV[1], ARGV[2], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local f = redis.call('HMGET', lock, 't', 'w', 'r', 'q', 'x', '+' .. id)
local last = tonumber(f[1]) or 0
if now < last then now = last end
local token = now
if token == last then token = last + 1 end
local deadline = now + tonumber(ARGV[3])

-- Nobody holds or waits, or a reader joins readers of whom none has expired: O(1). Numbers are written with %d:
-- left to themselves, Lua and Redis write them as floating point, which takes several times as long.
if not (f[2] or f[4] or f[6]) and (not f[3] or mode == 'r') then
  local count, earliest = 0, deadline
  if f[3] then
    count, earliest = string.match(f[3], '^(%d+) (%d+)$')
    count, earliest = tonumber(count), tonumber(earliest)
  end
  if earliest > now then
    local latest = tonumber(f[5]) or 0
    if latest < deadline then latest = deadline end
    local summary = '1'
    if mode == 'r' then
      if deadline < earliest then earliest = deadline end
      summary = string.format('%d %d', count + 1, earliest)
    end
    local granted = string.format('%d', token)
    redis.call('HSET', lock, 't', granted, 'x', string.format('%d', latest), mode, summary,
      '+' .. id, string.format('%s %d ', mode, deadline) .. granted .. ' ' .. label)
    redis.call('PEXPIREAT', lock, string.format('%d', math.ceil(latest / 1000) + 1000))
    return {1, token}
  end
end

if not KEYS[2] then return {9} end
-- include: common.lua

local owner = label == '' and id or label
local waiter_lease = tonumber(ARGV[5])
local holds = load_holds()

local mine = holds.by_id[id]
if mine then -- The reply was lost and the request sent again.
  if deadline > mine.deadline then
    mine.deadline = deadline
    save_hold(holds, mine)
  end
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
if others_until > 0 and own_read and mode == 'w' and waiter_lease > 0 then return {3} end

local seq = place_of(id)
local blocked_until = others_until
if others_until == 0 and not (own_write or own_read) then
  blocked_until = line_blocks(mode, id, seq)
end

if blocked_until == 0 then
  if seq then leave_line(id) elseif f[4] then tidy_line() end
  redis.call('HSET', lock, 't', token)
  save_hold(holds, {id = id, mode = mode, deadline = deadline, token = token, label = label})
  return {1, token}
end
if waiter_lease == 0 then
  return {0, blocked_until - now}
end
join_line(mode, id, seq, waiter_lease, holds)
return {2, blocked_until - now}
