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

// Where each bracket, comma, colon, string, number and word begins. The buffer is kept for the next
// text: new memory pages would cost more than the parsing.
class TokenIndex {
 public:
  TokenIndex();
  ~TokenIndex();
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;

  // Afterwards the text is known to be UTF-8, with every string closed and without control
  // characters. Nothing else is checked.
  Result<void> build(std::string_view text);

  // For the first part of a longer text: up to the end of an object at or after `at_least`, or all
  // of it if no object ends there. Returns the bytes covered.
  Result<std::size_t> build_part(std::string_view text, std::size_t at_least);

  // Frees a buffer for longer texts; build() makes a new one.
  void keep_at_most(std::size_t text_size);

  // Offsets in the text; *end() is the text's size.
  const std::uint32_t* begin() const { return begin_; }

  const std::uint32_t* end() const { return end_; }

 private:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

// Decodes the escapes of a JSON string; false if one is broken.
bool unescape(std::string_view inside, std::string& out);

}  // namespace plim::kube
