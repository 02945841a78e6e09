// Finds what is wrong with JSON text that the parser has rejected. Runs only then, so that the
// parser can be fast and the message is still good.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace plim {

struct JsonMistake {
  std::size_t offset = 0;
  std::string message;  // "expected ':' after the key, found '}'"
};

std::optional<JsonMistake> find_json_mistake(std::string_view text);

}  // namespace plim
