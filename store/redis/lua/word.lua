-- Words are eight raw bytes, since no number here has 64 bits. What is no word reads as the word 2,
-- which is no state, and what is not there as 0.
local function word(key)
  local v = redis.pcall('GET', key)
  if not v then return '\0\0\0\0\0\0\0\0' end
  if type(v) ~= 'string' or #v ~= 8 then return '\0\0\0\0\0\0\0\2' end
  return v
end
