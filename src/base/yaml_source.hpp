// Scalars that libfyaml 0.7.12 misreads, decoded from the source instead: it garbles what follows
// '''' between single quotes, and loses line ends of folded blocks, leaving unset bytes behind.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plim {

// What stands between single quotes.
std::string read_single_quoted(std::string_view raw);

// The lines of a block below a ">" that names no indentation of its own; `chomping` is the sign
// behind it: '-', '+', or ' ' for none.
std::string read_folded_block(std::string_view raw, char chomping);

// What stands behind the block indicator in its line.
struct BlockHeader {
  char chomping = ' ';
  bool has_indentation = false;
};

// `line` is all of the line that ends in the header of a block in the given style, '|' or '>'.
BlockHeader read_block_header(std::string_view line, char style);

}  // namespace plim
