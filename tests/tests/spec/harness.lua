-- Runs a script on a test's clock. After its own arguments: a command that may do instead, its length (0 = there
-- is none), how many hear each message, and the time in us.
-- Returns {what the script returns, {channel and message for each waiter told}}
local test_name = 'the name'
local test_clock, test_told = tonumber(ARGV[#ARGV]), {}
local function test_time()
  local seconds = math.floor(test_clock / 1000000)
  return {string.format('%d', seconds), string.format('%d', test_clock % 1000000)}
end
local function test_pexpire(key, span)
  redis.call('PEXPIREAT', key, string.format('%d', math.floor(test_clock / 1000) + span))
end
local function test_publish(command, channel, message)
  if command ~= 'SPUBLISH' then error('not the publish command: ' .. command) end
  test_told[#test_told + 1] = channel .. ' ' .. message
  return tonumber(ARGV[#ARGV - 1])
end
-- What is due on the test's clock has expired. (-1: never, -2: no such key.)
for _, key in ipairs(KEYS) do
  local at = redis.call('PEXPIRETIME', key)
  if at >= 0 and at * 1000 <= test_clock then redis.call('DEL', key) end
end
local test_now = math.max(test_clock, tonumber(redis.call('HGET', KEYS[1], 't') or 0))
local test_id = string.match(ARGV[1] or '', '^=?(.*)$')
local test_known = redis.call('HEXISTS', KEYS[1], '+' .. test_id) == 1
local function test_script(KEYS)
-- the script
end
-- While a slot moves, a script may get the lock's key alone; 9 says that it has done nothing then.
local test_reply = {9}
local test_plain = tonumber(ARGV[#ARGV - 2])
if test_plain > 0 and test_clock % 3 == 0 then
  local answer = redis.call(unpack(ARGV, #ARGV - 2 - test_plain, #ARGV - 3))
  if answer ~= 0 then test_reply = answer end
end
if type(test_reply) == 'table' and (test_name == 'Acquire' or test_name == 'Release') and test_clock % 2 == 0 then
  test_reply = test_script({KEYS[1]})
end
if type(test_reply) == 'table' and test_reply[1] == 9 then test_reply = test_script(KEYS) end

-- What is recorded must be consistent in itself.
local function test_assert(ok, what)
  if not ok then error(what .. ': ' .. cjson.encode(redis.call('HGETALL', KEYS[1]))) end
end
for _, key in ipairs(KEYS) do
  test_assert(redis.call('PEXPIRETIME', key) ~= -1, key .. ' never expires')
end
local function test_records()
  local fields, writes, reads, first, latest, expired = {}, 0, 0, math.huge, 0, false
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    fields[all[i]] = all[i + 1]
    if string.byte(all[i]) == 43 then
      local mode, deadline = string.match(all[i + 1], '^(%a) (%d+) %d+ ')
      deadline = tonumber(deadline)
      if mode == 'w' then writes = writes + 1 end
      if mode == 'r' then reads, first = reads + 1, math.min(first, deadline) end
      latest = math.max(latest, deadline)
      expired = expired or deadline <= test_now
    end
  end
  local count, earliest = string.match(fields.r or '0 0', '^(%d+) (%d+)$')
  test_assert(tonumber(fields.w or 0) == writes, 'w is not the number of write holds')
  test_assert(tonumber(count) == reads, 'r is not the number of read holds')
  test_assert(tonumber(earliest) <= first, 'a read hold ends before the earliest')
  test_assert(tonumber(fields.x or 0) >= latest, 'a hold ends after x')
  local waiting = KEYS[4] and redis.call('EXISTS', KEYS[3], KEYS[4]) > 0
  test_assert(fields.q or not waiting, 'somebody waits and q is missing')
  if fields.x then
    test_assert(writes + reads > 0 or fields.q, 'x is left although nobody holds or waits')
  else
    local others = -1
    for field in pairs(fields) do
      others = others + 1
      test_assert(field == 't' or string.byte(field) == 61, 'a lock of one hold has more than that')
    end
    test_assert(others <= 1, 'several holds are the only one')
  end
  return expired, fields.q and not waiting
end
local expired, idle = test_records()
-- Who takes the lock clears away what is over; so does who gives it back, but for the line.
local enters = test_name == 'Acquire' and type(test_reply) ~= 'table'
local leaves = test_name == 'Release' and test_reply == 1
test_assert(not expired or not (enters or leaves), 'an expired hold is left')
test_assert(not idle or not enters or test_known, 'q is left although nobody waits')
return {test_reply, test_told}
