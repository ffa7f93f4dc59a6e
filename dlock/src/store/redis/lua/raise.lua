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
  local mode, left, of = string.match(alone, '^(%a) (%d+) (.*)$')
  if not mode and string.match(alone, '^%d+$') then mode, left, of = 'w', (alone - 1001) * 1000, '' end
  local deadline = mode and last + left
  if mode and deadline > at then
    if token <= last then return 1 end
    if token > at then
      deadline = deadline + token - at
      call('PEXPIREAT', lock, string.format('%d', math.floor(deadline / 1000) + 1001))
    end
    call('HSET', lock, 't', string.format('%d', token), '=' .. id,
      string.format('%s %d ', mode, deadline - token) .. of)
    return 1
  end
end

local owner, pub, known = '', nil, {}
-- include: common
refused = not f[2] and list_only_hold(call('HLEN', lock))
if refused then return redis.error_reply(refused) end
local mine = live_hold(id)
if not mine and token < now then return none() end
if mine then
  set('+' .. id, fmt('%s %d %d %d ', mine.mode, mine.deadline, max(mine.token, token), mine.k) .. mine.owner)
end
last = max(last, token)
set('t', fmt('%d', last))
-- Time that waits for the clock would keep others' holds from their ends for as long as tokens come.
local goes_on = false
if real + offset < last then
  for k = 1, reads + writes do
    local other = get1('h' .. k)
    goes_on = other ~= id and live_hold(other) ~= nil
    if goes_on then break end
  end
end
local before, step = now, offset
now = real + offset
if now < last then
  if goes_on or last - now > 1000000 then
    offset = last - real
    set('o', fmt('%d', offset))
  end
  now = last
end
step = offset - step
if keep > 0 then keep = keep + step end
if now > before then
  for k = 1, reads + writes do
    local field = '+' .. get1('h' .. k)
    local mode, deadline, rest = match(get1(field), '^(%a) (%d+) (.*)$')
    deadline = deadline + now - before
    set(field, fmt('%s %d ', mode, deadline) .. rest)
    promise(deadline)
  end
  earliest = earliest + now - before
  if get1('e') then set('e', '') end
end
promise(now)
-- What a free lock remembers anyway is not cut short.
if reads + writes + W.count + R.count == 0 then
  keep = max(keep, last + offset, now + 1000 * (call('PTTL', lock) - 1001)) -- expire() adds that.
end
commit(true)
return mine and 1 or none()
