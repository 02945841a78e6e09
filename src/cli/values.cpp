#include "cli/values.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "cli/settings_file.hpp"

namespace plim::cli {

void Values::set(std::string_view name, Value value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

const Value& Values::at(std::string_view name) const {
  auto found = values_.find(name);
  PLIM_ASSERT(found != values_.end());
  return found->second;
}

const std::string& Values::text(std::string_view name) const {
  return at(name).text;
}

bool Values::boolean(std::string_view name) const {
  return parse_boolean(at(name).text).value_or(false);
}

std::int64_t Values::integer(std::string_view name) const {
  return parse_int<std::int64_t>(at(name).text).value_or(0);
}

std::chrono::milliseconds Values::duration(std::string_view name) const {
  return parse_wait(at(name).text).value_or(std::chrono::milliseconds(0));
}

bool Values::given(std::string_view name) const {
  return at(name).origin != Origin::fallback;
}

}  // namespace plim::cli
