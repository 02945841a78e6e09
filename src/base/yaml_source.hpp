// Decodes scalars from the source that libfyaml 0.7.12 misreads: it garbles what follows '''' in
// single quotes, and loses line ends of folded blocks, leaving uninitialized bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plim {

// The text between single quotes.
std::string read_single_quoted(std::string_view raw);

// The lines of a block below a ">" without an indentation number; `chomping` is the sign after it:
// '-', '+', or ' ' for none.
std::string read_folded_block(std::string_view raw, char chomping);

// What follows the block indicator on its line.
struct BlockHeader {
  char chomping = ' ';
  bool has_indentation = false;
};

// `line` is the whole line that ends with the header of a block with the given style, '|' or '>'.
BlockHeader read_block_header(std::string_view line, char style);

}  // namespace plim
