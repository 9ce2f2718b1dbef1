-- whole reports whether a number read from a value can be one of ours: an integer from 0 to 2^54, which is later
-- than the end of any wait that begins before 2255. What is not, NaN and the infinite ones among them, somebody
-- else has written.
local function whole(n) return n >= 0 and n <= 18014398509481984 and n % 1 == 0 end
