-- Notifies waiters, and lets in those that the lock admits. A change is recorded before its messages are sent.
-- Before it stand record.lua, commit.lua, holds.lua and line.lua.

local publish, trusted, ear_for, channel, notes = '', false, '', '', nil
if pub and pub ~= '' then
  -- How, and the length of the prefix, behind which '~c' makes a key a channel:
  -- 'S' SPUBLISH, 'P' PUBLISH, 'L' PUBLISH in a cluster, which counts only subscribers of this node; 'R' and 'N' return the
  -- messages that the first two would publish: while a slot is moving, its subscribers are still at the old node, and some servers
  -- let no script publish. A small letter: on a single server, where a client has one channel for all locks.
  local letter, prefix = match(pub, '^(%a)(%d+)$')
  local kind = string.upper(letter)
  publish = kind == 'S' and 'SPUBLISH' or 'PUBLISH'
  -- Where replicas cannot be kept from repeating a message, it grants nothing.
  trusted = (kind == 'S' or kind == 'P') and redis.set_repl
  ear_for = kind == 'S' and '1' or '3'
  notes = (kind == 'R' or kind == 'N') and {}
  channel = string.sub(lock, 1, prefix) .. '~c' .. (kind == letter and string.sub(lock, prefix + 1) or '') .. ':'
end

local messages = 0
-- Whether a subscriber received the message, as far as the server knows.
local function told(waiter, message)
  if publish == '' then return false end
  messages = messages + 1
  local to = channel .. (match(waiter.id, '^(.*)/') or waiter.id)
  if notes then
    notes[#notes + 1], notes[#notes + 2] = to, message
    return false
  end
  -- A replica must not repeat a grant. A waiter that is still subscribed there, where the master was, would believe it,
  -- although it is taken back here because no subscriber received it.
  if trusted then redis.set_repl(redis.REPL_NONE) end
  local heard = redis.pcall(publish, to, message)
  if trusted then redis.set_repl(redis.REPL_ALL) end
  return type(heard) == 'number' and heard > 0
end

local passed = 0
-- Passes over a waiter that has subscribed and receives nothing. It keeps its position.
local function pass_over(waiter)
  if not trusted or waiter.ear ~= ear_for then return false end
  waiter.ear, passed = '2', passed + 1
  write_waiter(waiter)
  return true
end

-- Notifies readers up to the end of their phase that they may enter, each once, a piece at a time: readers that enter
-- have the next piece notified.
local function tell_readers()
  local reader = front(R)
  if not reader then return end
  local first = max(R.told + 1, reader.i)
  local upto, coming = min(R.phase, first + PIECE - 1), {}
  for i = first, upto do coming[#coming + 1] = 'R' .. i end
  coming = get(coming)
  R.told = max(R.told, upto)
  commit(true)
  for j, record in ipairs(coming) do
    local waiter = record and read_waiter(R, first + j - 1, record)
    if waiter and waiter.deadline > now and waiter.ear ~= '2' and not told(waiter, waiter.id) then pass_over(waiter) end
  end
end

-- Undoes a grant that no subscriber received. Whether the next waiter may be tried.
local function take_back(waiter)
  unhold(waiter.id, 'w', reads + writes, waiter.owner)
  W.count, W.head = W.count + 1, min(W.head, waiter.i)
  set('?' .. waiter.id, 'W' .. waiter.i)
  if pass_over(waiter) then return true end
  write_waiter(waiter)
  W.front = waiter.i
  return false
end

-- Lets in the waiters that the lock admits now. Readers are told to look; a writer holds the lock from here on, for as long
-- as its position would have been kept: where the server knows its subscribers, the message is the grant.
local function pass_on()
  for _ = 1, FEW do
    if writes > 0 or messages > PIECE then return end
    local writer, reader = front(W), front(R)
    local phase = writer and max(R.phase, writer.before) or R.tail
    if reader and reader.i <= phase then
      if reader.i <= R.told then return end
      R.phase = max(R.phase, phase)
      tell_readers()
    else
      if not writer or again or reads > 0 and witness() then return end
      if not trusted then
        commit(true)
        told(writer, writer.id)
        return
      end
      last = max(now, last + 1)
      now = max(now, last)
      set('t', fmt('%d', last))
      leave(writer)
      if W.head == writer.i then W.head = writer.i + 1 end
      W.front = writer.i + 1
      hold(writer.id, 'w', writer.deadline, last, writer.owner)
      commit(true)
      if told(writer, writer.id .. ' ' .. writer.nonce .. fmt(' %d', last)) then return end
      if not take_back(writer) then return end
    end
  end
end

-- The lock is free, and yet a waiter that should have received a message keeps others out: sends it again, and passes over
-- waiters without a subscriber. Whether a waiter was passed over.
local function rouse()
  for _ = 1, FEW do
    local writer, reader = front(W), front(R)
    local reads_next = reader and (not writer or reader.i <= max(R.phase, writer.before))
    local first = reads_next and reader or writer
    if again or not first or first.ear ~= ear_for then break end
    if reads_next and reader.i <= R.told then
      if told(reader, reader.id) then break end
      pass_over(reader)
    else
      pass_on()
      break
    end
  end
  return passed > 0
end

-- After a hold or a position was given up: lets in the waiters that this admits.
local function settle()
  giving = true
  if writes > 0 then review() else review_some(FEW_HOLDS) end
  if reads > 0 then witness() end
  pass_on()
end

-- Removes a live hold, and lets in the waiters that this admits.
local function give_back(mine)
  unhold(mine.id, mine.mode, mine.k, mine.owner)
  if mine.mode == 'w' then end_write_phase() end
  settle()
end
