-- At the end of a local slice: lets the line in if anybody waits, otherwise carries on.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 last token handed out under this hold, 3 lease in us,
--       4 publish command, 5 channel stem
-- Returns  {1, token}  nobody waits: the hold goes on, extended, with a fresh token
--          {2}         somebody waits: a write hold has been released to them; a read hold stays
--                      until its readers leave, but must not be joined any more
--          {0}         no such hold: released before, or expired
local lock, id, handed = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('HGET', lock, 't') or 0)
if now < last then now = last end
local publish, channel = ARGV[4], ARGV[5]
-- include: common.lua
local holds = load_holds()
local hold = holds.by_id[id]
if not hold then return {0} end
if handed > last then last = handed end

if head(writers) or hold.mode == 'w' and head(readers) then
  redis.call('HSET', lock, 't', last)
  if hold.mode == 'w' then
    drop_hold(holds, id)
    pass_on(holds)
  end
  return {2}
end
local token = math.max(now, last + 1)
redis.call('HSET', lock, 't', token)
if now < last then now = last end
hold.deadline = math.max(hold.deadline, now + tonumber(ARGV[3]))
save_hold(holds, hold)
return {1, token}
