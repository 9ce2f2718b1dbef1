-- Several limits, all or nothing. KEYS: their keys. ARGV: for each of them its kind, the permits, and
-- three numbers. All are asked before any is written to.
local take = {b = bucket_take, f = fixed_take, s = sliding_take}
local write = {b = bucket_keep, f = fixed_keep, s = sliding_keep}
local every, answers, reply = true, {}, {now}
for i, key in ipairs(KEYS) do
  local o = 5 * i - 4
  local n = tonumber(ARGV[o + 1])
  local answer = {take[ARGV[o]](key, o + 2, n, n)}
  every = every and (answer[1] > 0 or n == 0)
  answers[i] = answer
end
for i, key in ipairs(KEYS) do
  local o, answer = 5 * i - 4, answers[i]
  if not every then answer[1] = 0 end
  if answer[1] > 0 or answer[2] then
    write[ARGV[o]](key, o + 2, answer[1], answer[3], answer[4], answer[5])
  end
  reply[4 * i - 2], reply[4 * i - 1], reply[4 * i], reply[4 * i + 1] = answer[1], answer[3], answer[4], answer[5]
end
return reply
