// The tokens of a JSON text, found by simdjson's first stage; for the *_decode.cpp files only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace plim::kube {

// Where each bracket, comma, colon, string, number and word begins. Its buffer is kept for the
// next text: fresh pages would cost more than the parsing.
class TokenIndex {
 public:
  TokenIndex();
  ~TokenIndex();
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;

  // Afterwards the text is UTF-8, every string in it is closed and holds no control characters;
  // nothing else is known about it.
  Result<void> build(std::string_view text);

  // Of the front of a longer text: up to the end of an object at or after `at_least`, or all of it
  // where none is found. Returns the bytes covered.
  Result<std::size_t> build_part(std::string_view text, std::size_t at_least);

  // Gives a buffer for longer texts back; build() makes a new one.
  void keep_at_most(std::size_t text_size);

  // Offsets in the text; *end() is the text's size.
  const std::uint32_t* begin() const { return begin_; }

  const std::uint32_t* end() const { return end_; }

 private:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

// What the inside of a JSON string stands for; false if an escape in it is broken.
bool unescape(std::string_view inside, std::string& out);

}  // namespace plim::kube
