#include <array>
#include <string_view>

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include "base/json.hpp"
#include "base/json_mistake.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

// Fills a value stack like Boost's own parser, but parses doubles exactly: Boost.JSON 1.81 is off
// by one unit in the last place for many of them, and reads 1e999 as infinity.
struct Builder {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  using Text = json::string_view;
  using Ec = json::error_code;

  std::array<unsigned char, 4096> first_of_stack;  // enough for nearly all texts
  json::value_stack stack{{}, first_of_stack.data(), first_of_stack.size()};

  bool on_document_begin(Ec&) { return true; }

  bool on_document_end(Ec&) { return true; }

  bool on_object_begin(Ec&) { return true; }

  bool on_object_end(std::size_t members, Ec&) {
    stack.push_object(members);
    return true;
  }

  bool on_array_begin(Ec&) { return true; }

  bool on_array_end(std::size_t elements, Ec&) {
    stack.push_array(elements);
    return true;
  }

  bool on_key_part(Text text, std::size_t, Ec&) {
    stack.push_chars(text);
    return true;
  }

  bool on_key(Text text, std::size_t, Ec&) {
    stack.push_key(text);
    return true;
  }

  bool on_string_part(Text text, std::size_t, Ec&) {
    stack.push_chars(text);
    return true;
  }

  bool on_string(Text text, std::size_t, Ec&) {
    stack.push_string(text);
    return true;
  }

  bool on_number_part(Text, Ec&) { return true; }

  bool on_int64(std::int64_t number, Text text, Ec&) {
    if (number == 0 && text.front() == '-')
      stack.push_double(-0.0);
    else
      stack.push_int64(number);
    return true;
  }

  bool on_uint64(std::uint64_t number, Text, Ec&) {
    stack.push_uint64(number);
    return true;
  }

  bool on_double(double, Text text, Ec& ec) {
    auto number = parse_double(text);
    if (!number) {
      ec = json::error::exponent_overflow;
      return false;
    }
    stack.push_double(*number);
    return true;
  }

  bool on_bool(bool value, Ec&) {
    stack.push_bool(value);
    return true;
  }

  bool on_null(Ec&) {
    stack.push_null();
    return true;
  }

  bool on_comment_part(Text, Ec&) { return true; }

  bool on_comment(Text, Ec&) { return true; }
};

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view source) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<Builder> parser(options);
  parser.handler().stack.reset();
  json::error_code ec;
  std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && read == text.size()) return parser.handler().stack.release();

  JsonMistake mistake = find_json_mistake(text).value_or(
      JsonMistake{.offset = read, .message = ec ? ec.message() : "text after the end of the JSON"});
  return fail(Code::invalid, located(source, position_of(text, mistake.offset), mistake.message));
}

}  // namespace plim
