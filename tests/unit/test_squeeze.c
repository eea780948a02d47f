/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scripts and style sheets without what browsers do not need. */
#include "../../plugins/output/html/squeeze.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(enum html_language language, const char *source, const char *squeezed)
{
    char text[512];
    assert_true(strlen(source) < sizeof text);
    strcpy(text, source);
    assert_int_equal(html_squeeze(text, language), strlen(squeezed));
    assert_string_equal(text, squeezed);
    /* What is squeezed stays as it is. */
    assert_int_equal(html_squeeze(text, language), strlen(squeezed));
    assert_string_equal(text, squeezed);
}

static void white_space_between_tokens_goes(void **state)
{
    (void)state;
    expect(HTML_SCRIPT, "", "");
    expect(HTML_SCRIPT, " \n/* only */ // this", "");
    expect(HTML_SCRIPT, "const a = ( b , c ) ;\n  d ( ) ;\n", "const a=(b,c);d();");
    expect(HTML_SCRIPT, "if (a) {\n  b();\n}\nelse {\n}\n", "if(a){b();}\nelse{}");
    expect(HTML_SCRIPT, "f({ a,\n    b })\n  .c();", "f({a,b}).c();");
    expect(HTML_SCRIPT, "a /* one */ = /* two */ b; // three\nc();", "a=b;c();");
}

static void words_and_signs_stay_apart(void **state)
{
    (void)state;
    expect(HTML_SCRIPT, "return  typeof\ta in b", "return typeof a in b");
    expect(HTML_SCRIPT, "new/* */Map", "new Map");
    expect(HTML_SCRIPT, "a + +b - -c + ++d", "a+ +b- -c+ ++d");
    expect(HTML_SCRIPT, "a - --b", "a- --b");
    expect(HTML_SCRIPT, "a / /b/.c", "a/ /b/.c");
    expect(HTML_SCRIPT, "\xc3\xa4 \xc3\xb6", "\xc3\xa4 \xc3\xb6");
}

/* A line may stand for a semicolon. */
static void lines_that_may_end_a_statement_stay(void **state)
{
    (void)state;
    expect(HTML_SCRIPT, "a = b\nc = d\n\n  e()\n[f] = g", "a=b\nc=d\ne()\n[f]=g");
    expect(HTML_SCRIPT, "const f = () => {\n}\nlet g", "const f=()=>{}\nlet g");
    expect(HTML_SCRIPT, "return\n(a)", "return\n(a)");
    expect(HTML_SCRIPT, "a\n++b", "a\n++b");
    expect(HTML_SCRIPT, "a // why\nb", "a\nb");
    expect(HTML_SCRIPT, "a /* why\n */ b", "a\nb");
    expect(HTML_SCRIPT, "a =\n  b ||\n  c\n  ? d : e;", "a=b||c?d:e;");
}

static void texts_stay_as_they_are(void **state)
{
    (void)state;
    expect(HTML_SCRIPT, "a = \" // no \\\"  x \" ;", "a=\" // no \\\"  x \";");
    expect(HTML_SCRIPT, "a = '/* no */  ' + \"'  \" ;", "a='/* no */  '+\"'  \";");
    expect(HTML_SCRIPT, "`a  ${ b ? `, ${ c }  }` : \"}  `\" }  d` ;",
           "`a  ${ b ? `, ${ c }  }` : \"}  `\" }  d`;");
    expect(HTML_SCRIPT, "`${ a.replace(/\"/g, '}  ') /* ` */ }  ` ;",
           "`${ a.replace(/\"/g, '}  ') /* ` */ }  `;");
    expect(HTML_SCRIPT, "`\\`  ${ { a: { } } }  $ {` + b", "`\\`  ${ { a: { } } }  $ {`+b");
    expect(HTML_CSS, "a::after { content: \" {  ; \\\" \" ; }",
           "a::after{content:\" {  ; \\\" \";}");
}

static void patterns_are_told_from_divisions(void **state)
{
    (void)state;
    expect(HTML_SCRIPT, "a = / b  [/\"] \\/ ' /g . c ;", "a=/ b  [/\"] \\/ ' /g.c;");
    expect(HTML_SCRIPT, "return / \"  /.test ( a ) ;", "return/ \"  /.test(a);");
    expect(HTML_SCRIPT, "f ( / `  / , b )", "f(/ `  /,b)");
    expect(HTML_SCRIPT, "a [ 0 ] / b / c ( ) / 2", "a[0]/b/c()/2");
    expect(HTML_SCRIPT, "a / 'b'", "a/'b'");
}

static void sheets_keep_what_separates_selectors_and_values(void **state)
{
    (void)state;
    expect(HTML_CSS,
           "/* x */\n.a .b > c ,\n.d :is( e , f ) {\n  margin : 0 calc( 1px + 2% ) ;\n}\n",
           ".a .b>c,.d :is( e,f ){margin :0 calc( 1px + 2% );}");
    expect(HTML_CSS, "@media (max-width: 9px) and (x) {\n  a:not(.b) #c .d { color: #fff; }\n}",
           "@media (max-width:9px) and (x){a:not(.b) #c .d{color:#fff;}}");
    expect(HTML_CSS, "a { b: url(http://c/d) -1px !important }",
           "a{b:url(http://c/d) -1px !important}");
}

/* A text that ends anywhere is no reason to read on. */
static void open_ends_are_ends(void **state)
{
    (void)state;
    static const char whole[] = "a = `b${ \"c\" + `${ 'd' }` }` + /[e/]/ /* f */ ; g('h\\'i')";
    for (size_t n = 0; n < sizeof whole; n++) {
        char text[sizeof whole] = "";
        memcpy(text, whole, n);
        const size_t left = html_squeeze(text, HTML_SCRIPT);
        assert_true(left <= n);
        assert_int_equal(strlen(text), left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_between_tokens_goes),
        cmocka_unit_test(words_and_signs_stay_apart),
        cmocka_unit_test(lines_that_may_end_a_statement_stay),
        cmocka_unit_test(texts_stay_as_they_are),
        cmocka_unit_test(patterns_are_told_from_divisions),
        cmocka_unit_test(sheets_keep_what_separates_selectors_and_values),
        cmocka_unit_test(open_ends_are_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
