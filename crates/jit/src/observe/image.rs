//! An ELF image that describes a function of machine code to a debugger: its name, its addresses,
//! and the lines of its instructions as DWARF.

use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, LineProgram, LineString, Sections,
};
use gimli::{Encoding, Format, LineEncoding, RunTimeEndian};
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};

/// The data about a function that an image contains.
pub(crate) struct Described<'a> {
    /// Its name with its place: symbols of all programs share one namespace.
    pub(crate) name: &'a str,
    /// Its name, to be shown with the line.
    pub(crate) short: &'a str,
    /// Its address.
    pub(crate) address: u64,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The file that it was loaded from, if any, and the line of its definition.
    pub(crate) source: Option<(&'a str, u32)>,
    /// Offsets of instructions and their lines, in ascending order.
    pub(crate) lines: &'a [(u64, u32)],
}

/// The reason why writing an image does not fail: nothing in it is large, and it refers only to its
/// own parts.
const SMALL: &str = "an image is small";

/// Returns the image.
pub(crate) fn image(function: &Described<'_>) -> Vec<u8> {
    let sections = function.source.map(|source| dwarf(function, source));
    let mut debug: Vec<(&'static str, &[u8])> = Vec::new();
    if let Some(sections) = &sections {
        let collected: Result<(), ()> = sections.for_each(|id, data| {
            if !data.slice().is_empty() {
                debug.push((id.name(), data.slice()));
            }
            Ok(())
        });
        collected.expect(SMALL);
    }
    elf(function, &debug)
}

/// Returns the file, with `debug` sections.
fn elf(function: &Described<'_>, debug: &[(&'static str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(object::Endianness::default(), true, &mut out);
    w.reserve_file_header();
    w.reserve_null_section_index();
    let text_name = w.add_section_name(b".text");
    let text = w.reserve_section_index();
    let debug: Vec<_> = debug
        .iter()
        .map(|(name, data)| {
            let name = w.add_section_name(name.as_bytes());
            w.reserve_section_index();
            (name, w.reserve(data.len() as u64, 1), *data)
        })
        .collect();
    w.reserve_symtab_section_index();
    w.reserve_strtab_section_index();
    w.reserve_shstrtab_section_index();
    let symbol_name = w.add_string(function.name.as_bytes());
    w.reserve_null_symbol_index();
    w.reserve_symbol_index(Some(text));
    w.reserve_symtab();
    w.reserve_strtab().expect(SMALL);
    w.reserve_shstrtab().expect(SMALL);
    w.reserve_section_headers();

    let is_arm = cfg!(target_arch = "aarch64");
    w.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_EXEC,
        e_machine: if is_arm { elf::EM_AARCH64 } else { elf::EM_X86_64 },
        e_entry: function.address,
        e_flags: elf::FileFlags(0),
    })
    .expect(SMALL);
    for (_, _, data) in &debug {
        w.write(data);
    }
    w.write_null_symbol();
    w.write_symbol(&Sym {
        section: Some(text.0),
        st_name: w.string_offset(Some(symbol_name)),
        st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
        st_other: elf::SymbolOther(0),
        st_shndx: elf::SHN_UNDEF,
        st_value: function.address,
        st_size: function.size,
    });
    w.write_strtab();
    w.write_shstrtab();
    w.write_null_section_header();
    let plain = SectionHeader {
        sh_name: 0,
        sh_type: elf::SHT_PROGBITS,
        sh_flags: elf::SectionFlags(0),
        sh_addr: 0,
        sh_offset: 0,
        sh_size: 0,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 1,
        sh_entsize: 0,
    };
    // The code itself is in memory, where a debugger reads it.
    w.write_section_header(&SectionHeader {
        sh_name: w.section_name_offset(Some(text_name)),
        sh_type: elf::SHT_NOBITS,
        sh_flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
        sh_addr: function.address,
        sh_size: function.size,
        sh_addralign: 16,
        ..plain.clone()
    });
    for (name, offset, data) in &debug {
        w.write_section_header(&SectionHeader {
            sh_name: w.section_name_offset(Some(*name)),
            sh_offset: *offset,
            sh_size: data.len() as u64,
            ..plain.clone()
        });
    }
    w.write_symtab_section_header(1);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    out
}

/// Returns the debug sections with the line of each instruction.
fn dwarf(
    function: &Described<'_>,
    (file, head): (&str, u32),
) -> Sections<EndianVec<RunTimeEndian>> {
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };
    let text = |text: &str| text.replace('\0', "?").into_bytes();
    let file = text(file);
    let folder = std::env::current_dir().ok().and_then(|f| f.to_str().map(text));
    let folder = folder.filter(|f| !f.is_empty()).unwrap_or_else(|| b".".to_vec());
    let mut dwarf = DwarfUnit::new(encoding);
    let mut program = LineProgram::new(
        encoding,
        LineEncoding::default(),
        LineString::String(folder.clone()),
        None,
        LineString::String(file.clone()),
        None,
    );
    let start = Address::Constant(function.address);
    let source = program.default_directory();
    let source = program.add_file(LineString::String(file.clone()), source, None);
    program.begin_sequence(Some(start));
    let head_row = (0, head);
    for &(offset, line) in std::iter::once(&head_row).chain(function.lines) {
        let row = program.row();
        (row.address_offset, row.file, row.line) = (offset, source, line.into());
        program.generate_row();
    }
    program.end_sequence(function.size);
    dwarf.unit.line_program = program;
    let root = dwarf.unit.root();
    let child = dwarf.unit.add(root, gimli::DW_TAG_subprogram);
    let root = dwarf.unit.get_mut(root);
    root.set(gimli::DW_AT_name, AttributeValue::String(file));
    root.set(gimli::DW_AT_comp_dir, AttributeValue::String(folder));
    root.set(gimli::DW_AT_stmt_list, AttributeValue::LineProgramRef);
    root.set(gimli::DW_AT_low_pc, AttributeValue::Address(start));
    root.set(gimli::DW_AT_high_pc, AttributeValue::Udata(function.size));
    let child = dwarf.unit.get_mut(child);
    child.set(gimli::DW_AT_name, AttributeValue::String(text(function.short)));
    child.set(gimli::DW_AT_low_pc, AttributeValue::Address(start));
    child.set(gimli::DW_AT_high_pc, AttributeValue::Udata(function.size));
    child.set(gimli::DW_AT_external, AttributeValue::Flag(true));
    let endian =
        if cfg!(target_endian = "big") { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let mut sections = Sections::new(EndianVec::new(endian));
    dwarf.write(&mut sections).expect(SMALL);
    sections
}

#[cfg(test)]
mod tests {
    use super::{Described, image};
    use object::read::{Object, ObjectSection, ObjectSymbol};

    const FIB: Described<'_> = Described {
        name: "fib@fib.lua:1",
        short: "fib",
        address: 0x7000_1000,
        size: 99,
        source: Some(("fib.lua", 1)),
        lines: &[(16, 2), (40, 3)],
    };

    #[test]
    fn an_image_names_its_function() {
        let nowhere = Described { source: None, ..FIB };
        for function in [FIB, nowhere] {
            let bytes = image(&function);
            let file = object::File::parse(&*bytes).expect("it is ELF");
            assert_eq!(file.kind(), object::ObjectKind::Executable);
            let text = file.section_by_name(".text").expect("there is code");
            assert_eq!((text.address(), text.size()), (function.address, function.size));
            let symbols: Vec<_> = file.symbols().collect();
            let symbol = symbols.iter().find(|s| s.name() == Ok(function.name)).expect("a symbol");
            assert_eq!((symbol.address(), symbol.size()), (function.address, function.size));
            assert_eq!((symbol.kind(), symbol.is_global()), (object::SymbolKind::Text, true));
            assert_eq!(symbol.section_index(), Some(text.index()));
            let lines = file.section_by_name(".debug_line");
            assert_eq!(lines.is_some(), function.source.is_some());
            if let Some(lines) = lines {
                let data = lines.data().expect("it is inside");
                assert!(data.windows(8).any(|w| w == b"fib.lua\0"), "{data:?}");
            }
        }
    }
}
