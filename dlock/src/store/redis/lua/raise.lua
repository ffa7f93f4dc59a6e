-- Remembers a token that another server has named for the same hold: the next one here is larger. If it is ahead of the
-- clock, the lock's time goes on to it, and with it the ends of all holds; and it is remembered until the clock has come
-- to it, also if this hold is not there any more.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 hold id, 2 the token
-- Returns  1 by this hold | 0 no such hold: released before, or expired
local call = redis.call
local lock, id, token = KEYS[1], ARGV[1], tonumber(ARGV[2])
local short, time = call('HMGET', lock, 't', '=' .. id, 'o'), call('TIME')
local function none()
  call('HDEL', lock, '') -- Only a master may say so.
  return 0
end
local at, last, alone = time[1] * 1000000 + time[2], tonumber(short[1] or 0), short[2]

-- The only hold, and no step in the lock's time: it stays recorded as such.
if alone and alone ~= '' and (not short[3] or short[3] == '') and at >= last and token - at <= 1000000 then
  local mode, left, seen, of = string.match(alone, '^(%a) (%d+) (%d+) (.*)$')
  if not mode and string.match(alone, '^%d+$') then mode, left, seen, of = 'w', (alone - 1001) * 1000, 0, '' end
  local deadline = mode and last + left
  if mode and deadline > at and at >= last + seen then
    if token <= last then return 1 end
    if token > at then
      deadline = deadline + token - at
      call('PEXPIREAT', lock, string.format('%d', math.floor(deadline / 1000) + 1001))
    end
    call('HSET', lock, 't', string.format('%d', token), '=' .. id,
      string.format('%s %d %d ', mode, deadline - token, math.max(last + seen - token, 0)) .. of)
    return 1
  end
end

local owner, pub, known = '', nil, {}
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds only_hold
refused = not f[2] and list_only_hold(call('HLEN', lock))
if refused then return redis.error_reply(refused) end
local mine = live_hold(id)
if not mine and token < now then return none() end
last = max(last, token)
set('t', fmt('%d', last))

-- Whether others hold. If there are many whose leases are over, they may.
local function others_hold()
  local from = reads + writes
  for k = from, max(from - PIECE + 1, 1), -1 do
    local other = get1('h' .. k)
    if other ~= id and live_hold(other) then return true end
  end
  return from > PIECE
end

-- Time that waits for the clock would keep others' holds from their ends for as long as tokens come.
local before, ahead, first = now, offset, max(last, noted)
local clock = real + offset
if clock < first and (others_hold() or first - clock > STEP) then offset = first - real end
if keep > 0 then keep = keep + offset - ahead end
-- No lease gets shorter.
now = max(clock, first)
local step = now - before
if offset > 0 then
  if reads + writes > 0 then shift, earliest = shift + step, earliest + step end
  set_offset()
end
if mine then
  promise(mine.deadline + step)
  write_hold(id, mine.mode, mine.deadline + step, max(mine.token, token), mine.k, mine.owner)
end
promise(now)
-- What a free lock remembers anyway is not cut short.
if reads + writes + W.count + R.count == 0 then
  keep = max(keep, last + offset, now + 1000 * (call('PTTL', lock) - 1001)) -- expire() adds that.
end
commit(true)
return mine and 1 or none()
end)()
