-- Shared by the operations; included after the uncontended path, which pays nothing for it.
--
-- KEYS[1] lock: a hash with
--   t        last token granted; time does not go back behind it
--   w        number of recorded write holds, while there are any
--   r        '<count> <earliest>' of the recorded read holds, while there are any: before
--            <earliest> none of them can have expired
--   x        latest deadline promised to a hold or a waiter since the lock was last free
--   q        present while somebody may be waiting in the line
--   +<id>    a hold: '<mode> <deadline> <token> <owner>'; empty owner = the hold stands for itself
-- KEYS[2] line: a hash with
--   s        the last place given out
--   p        readers at or before this place enter before the next writer
--   <id>     a waiter's deadline: when it passes without a refresh, the place is lost
-- KEYS[3] waiting writers, KEYS[4] waiting readers: sorted sets, id -> place
-- All times are server time in us. All keys expire one second after x, or after the lock became
-- free: at a point in time, not after a span, so that no token repeats when the clock steps back.
local line, writers, readers = KEYS[2], KEYS[3], KEYS[4]

-- At the end of a write phase everybody who reads and waits enters next.
local function end_write_phase()
  local s = redis.call('HGET', line, 's')
  if s then redis.call('HSET', line, 'p', s) end
end

-- Rewrites the counts from the holds that are left.
local function save_counts(holds)
  local writes, reads, earliest = 0, 0, math.huge
  for _, h in ipairs(holds.list) do
    if h.mode == 'w' then
      writes = writes + 1
    else
      reads = reads + 1
      if h.deadline < earliest then earliest = h.deadline end
    end
  end
  if writes > 0 then
    redis.call('HSET', lock, 'w', writes)
  else
    redis.call('HDEL', lock, 'w')
  end
  if reads > 0 then
    redis.call('HSET', lock, 'r', string.format('%d %d', reads, earliest))
  else
    redis.call('HDEL', lock, 'r')
  end
  return writes
end

-- Reads all holds and drops the expired ones.
local function load_holds()
  local all = redis.call('HGETALL', lock)
  local holds, dead, write_died = {list = {}, by_id = {}, latest = 0}, {}, false
  for i = 1, #all, 2 do
    if all[i] == 'x' then
      holds.latest = tonumber(all[i + 1])
    elseif string.byte(all[i]) == 43 then -- '+'
      local id = string.sub(all[i], 2)
      local mode, deadline, token, owner = string.match(all[i + 1], '^(%a) (%d+) (%d+) (.*)$')
      local h = {
        id = id, mode = mode, deadline = tonumber(deadline), token = tonumber(token),
        label = owner, owner = owner == '' and id or owner
      }
      if h.deadline > now then
        holds.list[#holds.list + 1] = h
        holds.by_id[id] = h
      else
        dead[#dead + 1] = all[i]
        write_died = write_died or mode == 'w'
      end
    end
  end
  if #dead > 0 then
    for i = 1, #dead, 1000 do
      redis.call('HDEL', lock, unpack(dead, i, math.min(i + 999, #dead)))
    end
    if save_counts(holds) == 0 and write_died then end_write_phase() end
  end
  return holds
end

-- Notes that the lock must be remembered beyond a deadline.
local function promise(holds, deadline)
  if deadline <= holds.latest then return end
  holds.latest = deadline
  redis.call('HSET', lock, 'x', deadline)
  redis.call('PEXPIREAT', lock, string.format('%d', math.ceil(deadline / 1000) + 1000))
end

-- Records a hold, new or changed.
local function save_hold(holds, h)
  if not holds.by_id[h.id] then
    holds.list[#holds.list + 1] = h
    holds.by_id[h.id] = h
  end
  redis.call('HSET', lock, '+' .. h.id,
    string.format('%s %d %d ', h.mode, h.deadline, h.token) .. h.label)
  save_counts(holds)
  promise(holds, h.deadline)
end

-- Takes a hold away.
local function drop_hold(holds, id)
  local gone, left = holds.by_id[id], {}
  for _, h in ipairs(holds.list) do
    if h.id ~= id then left[#left + 1] = h end
  end
  holds.list, holds.by_id[id] = left, nil
  redis.call('HDEL', lock, '+' .. id)
  if save_counts(holds) == 0 and gone.mode == 'w' then end_write_phase() end
end

-- Forgets the line once nobody is in it.
local function tidy_line()
  if redis.call('EXISTS', writers, readers) == 0 then
    redis.call('DEL', line)
    redis.call('HDEL', lock, 'q')
  end
end

local function leave_line(id)
  redis.call('ZREM', writers, id)
  redis.call('ZREM', readers, id)
  redis.call('HDEL', line, id)
  tidy_line()
end

-- The deadline of a waiter. One that did not refresh in time loses its place here.
local function waits_until(id)
  local deadline = tonumber(redis.call('HGET', line, id) or 0)
  if deadline > now then return deadline end
  leave_line(id)
  return nil
end

local function place_of(id)
  if not (redis.call('HEXISTS', line, id) == 1 and waits_until(id)) then return nil end
  return tonumber(redis.call('ZSCORE', writers, id) or redis.call('ZSCORE', readers, id))
end

-- The first live waiter of a queue: its id, place and deadline. Dead ones before it are dropped.
local function head(queue)
  while true do
    local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    if not first[1] then return nil end
    local deadline = waits_until(first[1])
    if deadline then return first[1], tonumber(first[2]), deadline end
  end
end

-- The place up to which readers enter before the next writer.
local function readers_first()
  return tonumber(redis.call('HGET', line, 'p') or 0)
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
local function join_line(mode, id, seq, waiter_lease, holds)
  local deadline = now + waiter_lease
  local fields = {id, string.format('%d', deadline)}
  if not seq then
    local s = math.max(tonumber(redis.call('HGET', line, 's') or 0) + 1, now)
    s = string.format('%d', s)
    redis.call('ZADD', mode == 'w' and writers or readers, s, id)
    fields[3], fields[4] = 's', s
  end
  redis.call('HSET', line, unpack(fields))
  redis.call('HSET', lock, 'q', 1)
  promise(holds, deadline)
  local at = math.ceil(holds.latest / 1000) + 1000
  redis.call('PEXPIREAT', line, at)
  redis.call('PEXPIREAT', writers, at)
  redis.call('PEXPIREAT', readers, at)
end

-- Tells a waiter to look again. How many heard it; without pub/sub nobody does, and waiters poll.
local function notify(id)
  if publish == '' then return 1 end
  local heard = redis.pcall(publish, channel .. (string.match(id, '^(.*)/') or id), id)
  return type(heard) == 'number' and heard or 1
end

-- Wakes those whom the lock admits now, and nobody else. If nobody is left, only the last token is
-- kept, for one second.
local function pass_on(holds)
  local writer, writer_seq = head(writers)
  local reader = head(readers)
  if #holds.list == 0 and not writer and not reader then
    redis.call('HDEL', lock, 'x', 'q')
    redis.call('PEXPIREAT', lock, string.format('%d', math.ceil(math.max(now, last) / 1000) + 1000))
    return
  end
  for _, h in ipairs(holds.list) do
    if h.mode == 'w' then return end
  end
  local upto = writer and string.format('%d', math.max(writer_seq, readers_first())) or '+inf'
  local entering = redis.call('ZRANGEBYSCORE', readers, '-inf', upto)
  for _, id in ipairs(entering) do
    if waits_until(id) then notify(id) end
  end
  if #entering > 0 or #holds.list > 0 or not writer then return end
  -- Nobody hears for a head that died or has not subscribed yet: the next one then looks too.
  for _, id in ipairs(redis.call('ZRANGE', writers, 0, 3)) do
    if notify(id) > 0 then return end
  end
end
