#include "local/cluster/placed_yaml.hpp"

#include <fmt/format.h>

#include "base/json_pointer.hpp"

namespace plim::local::cluster {
namespace {

std::string_view last_step(std::string_view pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

// "key: |-", also with a comment after it.
bool opens_block(std::string_view line) {
  line = trim(cut(line, '#').first);
  while (line.ends_with('-') || line.ends_with('+')) line.remove_suffix(1);
  return line.ends_with('|');
}

}  // namespace

std::string below(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  append_step(out, key);
  return out;
}

std::string below(std::string_view pointer, std::size_t place) {
  return below(pointer, std::to_string(place));
}

Result<PlacedYaml> PlacedYaml::parse(std::string_view text, std::string_view name) {
  PLIM_TRY(YamlDocument document, parse_yaml_document(text, name));
  return PlacedYaml(std::move(document), text, name);
}

Result<PlacedYaml> PlacedYaml::inside(const std::string& pointer) const {
  PLIM_TRY(const std::string inner, text(pointer));
  const Block block = block_at(at(pointer));
  auto document = parse_yaml_document(inner, name_);
  if (!document) return error_inside(pointer, inner, block);
  PlacedYaml out(std::move(*document), inner, name_);
  out.scalar_ = at(pointer);
  out.block_ = block;
  out.inside_ = true;
  return out;
}

const json::value* PlacedYaml::find(std::string_view pointer) const {
  boost::system::error_code problem;
  return value().find_pointer(pointer, problem);
}

TextPosition PlacedYaml::at(std::string_view pointer) const {
  return outer(document_.position(pointer));
}

Error PlacedYaml::error(std::string_view pointer, std::string_view message) const {
  return fail(Code::invalid, located(name_, at(pointer), message));
}

std::string PlacedYaml::warning(std::string_view pointer, std::string_view message) const {
  return located(name_, outer(document_.key_position(pointer)), message);
}

Result<std::string> PlacedYaml::text(const std::string& pointer) const {
  const json::value* value = find(pointer);
  if (value == nullptr || !value->is_string())
    return error(pointer, fmt::format("{}: expected a string", last_step(pointer)));
  return std::string(value->get_string());
}

Result<std::size_t> PlacedYaml::length(const std::string& pointer) const {
  const json::value* list = find(pointer);
  if (list == nullptr || list->is_null()) return std::size_t{0};
  if (!list->is_array())
    return error(pointer, fmt::format("{}: expected a list", last_step(pointer)));
  return list->get_array().size();
}

Result<void> PlacedYaml::want_map(const std::string& pointer, std::string_view what) const {
  const json::value* value = find(pointer);
  if (value != nullptr && value->is_object()) return {};
  return error(pointer, fmt::format("{}: expected a map", what));
}

// The parser gives the position of the "|", or of what follows it.
PlacedYaml::Block PlacedYaml::block_at(TextPosition scalar) const {
  const auto lines = split(text_, '\n');
  const auto line_at = [&](int number) {
    const auto place = static_cast<std::size_t>(number - 1);
    return number >= 1 && place < lines.size() ? lines[place] : std::string_view();
  };
  Block out;
  if (opens_block(line_at(scalar.line)))
    out.line = scalar.line + 1;
  else if (opens_block(line_at(scalar.line - 1)))
    out.line = scalar.line;
  if (out.line == 0) return out;
  for (int number = out.line; number <= static_cast<int>(lines.size()); ++number) {
    const std::string_view line = line_at(number);
    const std::size_t first = line.find_first_not_of(' ');
    if (first == line.npos) continue;
    out.indent = static_cast<int>(first);
    break;
  }
  return out;
}

// Parses the text again with as many empty lines above as there are in the file, so that the error
// message has the line numbers of the file.
Error PlacedYaml::error_inside(const std::string& pointer, const std::string& inner,
                               Block block) const {
  if (block.line > 0) {
    std::string moved(static_cast<std::size_t>(block.line - 1), '\n');
    for (std::string_view line : split(inner, '\n'))
      moved += line.empty() ? "\n"
                            : std::string(static_cast<std::size_t>(block.indent), ' ') +
                                  std::string(line) + "\n";
    if (auto again = parse_yaml_document(moved, name_); !again) return again.error();
  }
  return error(pointer,
               "the text is not valid YAML: " + parse_yaml_document(inner).error().message);
}

TextPosition PlacedYaml::outer(TextPosition inner) const {
  if (!inside_) return inner;
  if (block_.line == 0) return scalar_;
  return {.line = block_.line + inner.line - 1, .column = block_.indent + inner.column};
}

}  // namespace plim::local::cluster
