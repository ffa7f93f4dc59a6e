-- Shared by the operations; included after the uncontended path, which pays nothing for it.
--
-- KEYS[1] lock: a hash with
--   t        last token granted; also the latest server time any grant has seen
--   w        '<latest deadline> <count> <owner>' of the write holds, while there are any
--   r        number of recorded read holds, while there are any (crashed readers may be among them)
--   x        latest deadline of all holds
--   q        present while somebody may be waiting in the line
--   +<id>    a hold: '<mode> <deadline> <token> <owner>'; empty owner = the hold stands for itself
-- KEYS[2] line: a hash with
--   s        the last place given out
--   p        readers at or before this place enter before the next writer
--   <id>     a waiter's deadline: when it passes without a refresh, the place is lost
-- KEYS[3] waiting writers, KEYS[4] waiting readers: sorted sets, id -> place
-- All times are server time in us.
local line, writers, readers = KEYS[2], KEYS[3], KEYS[4]

local function expire_lock(latest)
  redis.call('PEXPIRE', lock, math.ceil(math.max(latest - now, 0) / 1000) + 1000)
end

-- At the end of a write phase everybody who reads and waits enters next.
local function end_write_phase()
  local s = redis.call('HGET', line, 's')
  if s then redis.call('HSET', line, 'p', s) end
end

-- Rewrites the summary fields from the holds that are left.
local function save_summary(holds)
  local write_until, write_count, write_owner, read_count, latest = 0, 0, nil, 0, 0
  for _, h in ipairs(holds.list) do
    if h.mode == 'w' then
      write_count, write_owner = write_count + 1, h.owner
      if h.deadline > write_until then write_until = h.deadline end
    else
      read_count = read_count + 1
    end
    if h.deadline > latest then latest = h.deadline end
  end
  local set, del = {'x', string.format('%.0f', latest)}, {}
  if write_count > 0 then
    set[#set + 1] = 'w'
    set[#set + 1] = string.format('%.0f %d %s', write_until, write_count, write_owner)
  else
    del[#del + 1] = 'w'
  end
  if read_count > 0 then
    set[#set + 1] = 'r'
    set[#set + 1] = read_count
  else
    del[#del + 1] = 'r'
  end
  redis.call('HSET', lock, unpack(set))
  if #del > 0 then redis.call('HDEL', lock, unpack(del)) end
  expire_lock(latest)
end

-- Reads all holds and drops the expired ones.
local function load_holds()
  local all = redis.call('HGETALL', lock)
  local holds, dead, write_died = {list = {}, by_id = {}}, {}, false
  for i = 1, #all, 2 do
    if string.byte(all[i]) == 43 then -- '+'
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
    save_summary(holds)
    if write_died then
      local writes_left = false
      for _, h in ipairs(holds.list) do writes_left = writes_left or h.mode == 'w' end
      if not writes_left then end_write_phase() end
    end
  end
  return holds
end

-- Records a hold, new or changed.
local function save_hold(holds, h, last_token)
  if not holds.by_id[h.id] then
    h.label = h.owner
    h.owner = h.owner == '' and h.id or h.owner
    holds.list[#holds.list + 1] = h
    holds.by_id[h.id] = h
  end
  redis.call('HSET', lock, '+' .. h.id,
    string.format('%s %.0f %.0f %s', h.mode, h.deadline, h.token, h.label))
  if last_token then redis.call('HSET', lock, 't', string.format('%.0f', last_token)) end
  save_summary(holds)
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

-- The place of a waiter; a waiter that did not refresh in time has lost it.
local function place_of(id)
  local deadline = tonumber(redis.call('HGET', line, id))
  if not deadline then return nil end
  if deadline <= now then
    leave_line(id)
    return nil
  end
  return tonumber(redis.call('ZSCORE', writers, id) or redis.call('ZSCORE', readers, id))
end

-- The first live waiter of a queue: its id, place and deadline. Dead ones before it are dropped.
local function head(queue)
  while true do
    local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    if not first[1] then return nil end
    local deadline = tonumber(redis.call('HGET', line, first[1]) or 0)
    if deadline > now then return first[1], tonumber(first[2]), deadline end
    leave_line(first[1])
  end
end

-- Whether the line keeps this asker out although no hold does: 0, or when to look again.
local function line_blocks(mode, id, seq)
  local writer, writer_seq, writer_until = head(writers)
  if mode == 'r' then
    if not writer then return 0 end
    if seq and (seq < writer_seq or seq <= tonumber(redis.call('HGET', line, 'p') or 0)) then
      return 0
    end
    return writer_until
  end
  if writer and writer ~= id then return writer_until end
  local reader, reader_seq, reader_until = head(readers)
  if not reader then return 0 end
  if seq and reader_seq > seq and reader_seq > tonumber(redis.call('HGET', line, 'p') or 0) then
    return 0
  end
  return reader_until
end

local function join_line(mode, id, seq, waiter_lease, holds)
  local fields = {id, string.format('%.0f', now + waiter_lease)}
  if not seq then
    local s = tonumber(redis.call('HGET', line, 's') or 0) + 1
    if s < now then s = now end
    s = string.format('%.0f', s)
    redis.call('ZADD', mode == 'w' and writers or readers, s, id)
    fields[3], fields[4] = 's', s
  end
  redis.call('HSET', line, unpack(fields))
  local ms = math.ceil(waiter_lease / 1000) + 1000
  redis.call('PEXPIRE', line, ms)
  redis.call('PEXPIRE', writers, ms)
  redis.call('PEXPIRE', readers, ms)
  redis.call('HSET', lock, 'q', 1)
  local latest = now + waiter_lease
  for _, h in ipairs(holds.list) do
    if h.deadline > latest then latest = h.deadline end
  end
  expire_lock(latest)
end

-- Tells a waiter to look again. How many heard it; without pub/sub nobody does, and waiters poll.
local function notify(id)
  if publish == '' then return 1 end
  local heard = redis.pcall(publish, channel .. (string.match(id, '^(.*)/') or id), id)
  return type(heard) == 'number' and heard or 1
end

-- Wakes those whom the lock admits now, and nobody else.
local function wake(holds)
  for _, h in ipairs(holds.list) do
    if h.mode == 'w' then return end
  end
  local writer, writer_seq = head(writers)
  local upto = '+inf'
  if writer then
    upto = string.format('%.0f', math.max(writer_seq, tonumber(redis.call('HGET', line, 'p') or 0)))
  end
  head(readers)
  local entering = redis.call('ZRANGEBYSCORE', readers, '-inf', upto)
  for _, id in ipairs(entering) do notify(id) end
  if #entering > 0 or #holds.list > 0 or not writer then return end
  -- Nobody hears for a head that died or has not subscribed yet: the next one then looks too.
  for _, id in ipairs(redis.call('ZRANGE', writers, 0, 3)) do
    if notify(id) > 0 then return end
  end
end

-- Takes a hold away and lets in who waited for it.
local function drop_hold(holds, id)
  local gone = holds.by_id[id]
  local left, writes_left = {}, false
  for _, h in ipairs(holds.list) do
    if h.id ~= id then
      left[#left + 1] = h
      writes_left = writes_left or h.mode == 'w'
    end
  end
  holds.list, holds.by_id[id] = left, nil
  redis.call('HDEL', lock, '+' .. id)
  save_summary(holds)
  if gone.mode == 'w' and not writes_left then end_write_phase() end
end
