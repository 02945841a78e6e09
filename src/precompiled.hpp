// What nearly every file includes, compiled once. Not a substitute for includes: each file names
// what it uses. A change of a header in here compiles everything anew, so: only what many include
// and what has settled.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <tl/expected.hpp>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/rfc3339.hpp"
#include "base/task.hpp"
#include "base/text.hpp"
